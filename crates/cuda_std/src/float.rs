//! Floating-point arithmetic that Rust's `core` lacks.
//!
//! Rust never contracts `a * b + c`, so a kernel that wants a fused multiply-add says so. Nothing
//! here flushes subnormals or relaxes IEEE 754.

use crate::machine;

/// A floating-point type with a fused multiply-add.
pub trait Float:
    bytemuck::Pod
    + crate::warp::LaneValue
    + core::ops::Add<Output = Self>
    + core::ops::Mul<Output = Self>
    + PartialOrd
{
    /// Positive zero.
    const ZERO: Self;

    /// Negative zero: what changes no number that it is added to, zeros of either sign included.
    const NEGATIVE_ZERO: Self;

    /// The quiet NaN whose bits are all ones but for the sign: 0x7fff_ffff for f32,
    /// 0x7fff_ffff_ffff_ffff for f64.
    const CANONICAL_NAN: Self;

    /// `self * a + b`, rounded once.
    #[track_caller]
    #[must_use]
    fn mul_add(self, a: Self, b: Self) -> Self;

    /// The same number; [`Self::CANONICAL_NAN`] for every NaN.
    ///
    /// The sign and the payload of a NaN that arithmetic returns depend on the machine, and on the
    /// order of the operands: "Single-precision instructions return an unspecified NaN" (PTX ISA
    /// 9.7.3), and NVIDIA's return this one, x86 that of an operand. A kernel that promises the same
    /// bits everywhere calls this for each of its results.
    #[inline(always)]
    #[must_use]
    #[expect(clippy::eq_op, reason = "NaN alone differs from itself")]
    fn canonical_nan(self) -> Self {
        if self != self {
            Self::CANONICAL_NAN
        } else {
            self
        }
    }
}

impl Float for f32 {
    const ZERO: Self = 0.0;
    const NEGATIVE_ZERO: Self = -0.0;
    const CANONICAL_NAN: Self = Self::from_bits(0x7fff_ffff);

    #[inline(always)]
    #[track_caller]
    fn mul_add(self, a: Self, b: Self) -> Self {
        machine::mul_add_f32(self, a, b)
    }
}

impl Float for f64 {
    const ZERO: Self = 0.0;
    const NEGATIVE_ZERO: Self = -0.0;
    const CANONICAL_NAN: Self = Self::from_bits(0x7fff_ffff_ffff_ffff);

    #[inline(always)]
    #[track_caller]
    fn mul_add(self, a: Self, b: Self) -> Self {
        machine::mul_add_f64(self, a, b)
    }
}

/// A 16-bit format that is computed with in f32: every value of it is exact in f32.
pub trait HalfFloat: bytemuck::Pod {
    /// The same value in f32.
    #[track_caller]
    #[must_use]
    fn widen(self) -> f32;

    /// The nearest value of the format, ties to even.
    #[track_caller]
    #[must_use]
    fn narrow(value: f32) -> Self;

    /// Both values narrowed, in one instruction from compute capability 8.0 on; 0x7fff for every NaN.
    #[track_caller]
    #[must_use]
    fn narrow_pair(values: [f32; 2]) -> [Self; 2];
}

impl HalfFloat for half::f16 {
    #[inline(always)]
    #[track_caller]
    fn widen(self) -> f32 {
        machine::f16_to_f32(self.to_bits())
    }

    #[inline(always)]
    #[track_caller]
    fn narrow(value: f32) -> Self {
        Self::from_bits(machine::f32_to_f16(value))
    }

    #[inline(always)]
    #[track_caller]
    fn narrow_pair(values: [f32; 2]) -> [Self; 2] {
        machine::f32_pair_to_f16(values).map(Self::from_bits)
    }
}

impl HalfFloat for half::bf16 {
    #[inline(always)]
    #[track_caller]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[inline(always)]
    #[track_caller]
    fn narrow(value: f32) -> Self {
        Self::from_f32(value)
    }

    #[inline(always)]
    #[track_caller]
    fn narrow_pair(values: [f32; 2]) -> [Self; 2] {
        machine::f32_pair_to_bf16(values).map(Self::from_bits)
    }
}

/// e^`x`, with an error below one unit in the last place: the same bits on every machine, as it
/// is made of fused multiply-adds in a fixed order.
///
/// Subnormal results are rounded like all others; NaN gives NaN.
///
/// e^x = 2^n e^r with n the integer nearest to x / ln 2, and e^r by its Taylor series: |r| is at
/// most ln 2 / 2, so that the terms behind the 13th power are below 2^-57.
/// (Muller, Elementary Functions, 2016, chapter 11: additive range reduction.)
#[inline(always)]
#[track_caller]
#[must_use]
pub fn exp(x: f64) -> f64 {
    // Beyond these limits the result is 0 or infinite already. NaN passes both comparisons.
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };

    // In the sum's last bits stands n, as it would in an integer.
    let shifted = machine::mul_add_f64(x, core::f64::consts::LOG2_E, SHIFT);
    let n = shifted - SHIFT;
    let exponent = shifted.to_bits() as i32;

    // r = x - n ln 2, with ln 2 in two parts.
    let r = machine::mul_add_f64(n, -core::f64::consts::LN_2, x);
    let r = machine::mul_add_f64(n, -LN_2_REST, r);

    let mut series = INVERSE_FACTORIALS[INVERSE_FACTORIALS.len() - 1];
    let mut power = INVERSE_FACTORIALS.len() - 1;
    while power > 0 {
        power -= 1;
        series = machine::mul_add_f64(series, r, INVERSE_FACTORIALS[power]);
    }

    // Two factors, because 2^n alone may lie beyond the range of f64.
    let half = exponent >> 1;
    series * power_of_two(half) * power_of_two(exponent - half)
}

/// The square root, rounded to nearest as IEEE 754 has it.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn sqrt(x: f64) -> f64 {
    machine::sqrt_f64(x)
}

/// 2^51 + 2^52: a number of moderate size that is added to it is rounded to an integer.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// What `LN_2` lacks of ln 2.
const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;

/// 1 / k! for k from 0 to 13.
const INVERSE_FACTORIALS: [f64; 14] = {
    let mut values = [1.0; 14];
    let (mut k, mut factorial) = (1, 1_u64);
    while k < values.len() {
        factorial *= k as u64;
        values[k] = 1.0 / factorial as f64;
        k += 1;
    }
    values
};

/// 2^`exponent`, from 2^-1022 to 2^1023.
#[inline(always)]
const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

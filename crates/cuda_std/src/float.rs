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

    /// The remainder of the division whose quotient is [`Self::div_euclid`]: as `self % divisor`, which is
    /// exact, but not negative. `divisor` is added to a negative remainder and the sum is rounded, so it
    /// may be the magnitude of `divisor` itself. NaN by zero and of infinities. It has the result of the
    /// standard library's method.
    ///
    /// ```
    /// use cuda_std::float::Float;
    ///
    /// assert_eq!(Float::rem_euclid(-7.5_f32, 2.0), 0.5);
    /// assert_eq!(Float::rem_euclid(7.5_f32, -2.0), 1.5);
    /// ```
    #[track_caller]
    #[must_use]
    fn rem_euclid(self, divisor: Self) -> Self;

    /// The integer quotient whose remainder is not negative: the integer part of `self / divisor`, and
    /// one step away where `self % divisor` is negative. It has the result of the standard library's method.
    ///
    /// ```
    /// use cuda_std::float::Float;
    ///
    /// assert_eq!(Float::div_euclid(-7.5_f32, 2.0), -4.0);
    /// assert_eq!(Float::div_euclid(7.5_f32, -2.0), -3.0);
    /// ```
    #[track_caller]
    #[must_use]
    fn div_euclid(self, divisor: Self) -> Self;

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

    #[inline(always)]
    #[track_caller]
    fn rem_euclid(self, divisor: Self) -> Self {
        let remainder = self % divisor;
        if remainder < 0.0 {
            remainder + divisor.abs()
        } else {
            remainder
        }
    }

    #[inline(always)]
    #[track_caller]
    fn div_euclid(self, divisor: Self) -> Self {
        let quotient = machine::trunc_f32(self / divisor);
        match self % divisor < 0.0 {
            false => quotient,
            true if divisor > 0.0 => quotient - 1.0,
            true => quotient + 1.0,
        }
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

    #[inline(always)]
    #[track_caller]
    fn rem_euclid(self, divisor: Self) -> Self {
        let remainder = self % divisor;
        if remainder < 0.0 {
            remainder + divisor.abs()
        } else {
            remainder
        }
    }

    #[inline(always)]
    #[track_caller]
    fn div_euclid(self, divisor: Self) -> Self {
        let quotient = machine::trunc_f64(self / divisor);
        match self % divisor < 0.0 {
            false => quotient,
            true if divisor > 0.0 => quotient - 1.0,
            true => quotient + 1.0,
        }
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

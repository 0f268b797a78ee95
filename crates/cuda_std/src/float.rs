//! Floating-point arithmetic that Rust's `core` lacks.
//!
//! Rust never contracts `a * b + c`, so a fused multiply-add must be explicit. Nothing here flushes
//! subnormals or relaxes IEEE 754.

use crate::machine;

/// A floating-point type with a fused multiply-add.
pub trait Float:
    bytemuck::Pod
    + crate::warp::LaneValue
    + core::ops::Add<Output = Self>
    + core::ops::Sub<Output = Self>
    + core::ops::Mul<Output = Self>
    + PartialOrd
{
    /// Positive zero.
    const ZERO: Self;

    /// Negative zero. Adding it changes no number, not even a zero of either sign.
    const NEGATIVE_ZERO: Self;

    /// The quiet NaN with every bit set except the sign: 0x7fff_ffff for f32, 0x7fff_ffff_ffff_ffff
    /// for f64.
    const CANONICAL_NAN: Self;

    /// `self * a + b`, rounded once.
    #[track_caller]
    #[must_use]
    fn mul_add(self, a: Self, b: Self) -> Self;

    /// `self + other`, rounded, and what rounding took from it, which is exact unless the sum overflows. (Knuth, The Art
    /// of Computer Programming, volume 2, 4.2.2)
    ///
    /// ```
    /// use cuda_std::float::Float;
    ///
    /// assert_eq!(1e-20.two_sum(1.0), [1.0, 1e-20]);
    /// ```
    #[inline(always)]
    #[must_use]
    fn two_sum(self, other: Self) -> [Self; 2] {
        let sum = self + other;
        let of_other = sum - self;
        [sum, (self - (sum - of_other)) + (other - of_other)]
    }

    /// The Euclidean remainder, which is not negative. Equal to the standard library's method.
    ///
    /// `self % divisor` is exact. If it is negative, the magnitude of `divisor` is added and the sum rounded, so the
    /// result may equal that magnitude. The remainder by zero and of an infinity is NaN.
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

    /// The Euclidean quotient, whose remainder is not negative. Equal to the standard library's method.
    ///
    /// It is the integer part of `self / divisor`, or one step away if `self % divisor` is negative.
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

    /// Returns `self`, or [`Self::CANONICAL_NAN`] for every NaN.
    ///
    /// The sign and payload of a NaN from arithmetic depend on the machine and on the order of the operands:
    /// "Single-precision instructions return an unspecified NaN" (PTX ISA 9.7.3). NVIDIA GPUs return this one, x86 an
    /// operand's. A kernel that guarantees the same bits everywhere applies this to each of its results.
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

/// The larger of two numbers, or a NaN if either is: one instruction from compute capability 8.0.
///
/// It is `maximum` of IEEE 754-2019, where 0 is larger than -0. The bits of the NaN are unspecified;
/// [`math::maximum`](crate::math::maximum) returns the canonical one.
///
/// ```
/// use cuda_std::float::larger_or_nan;
///
/// assert_eq!(larger_or_nan(-0.0, 0.0).to_bits(), 0);
/// assert!(larger_or_nan(f32::NAN, 1.0).is_nan());
/// ```
#[inline(always)]
#[track_caller]
#[must_use]
pub fn larger_or_nan(left: f32, right: f32) -> f32 {
    machine::maximum_f32(left, right)
}

/// A 16-bit format whose values are exact in f32, in which arithmetic is done.
pub trait HalfFloat: bytemuck::Pod {
    /// The same value in f32.
    #[track_caller]
    #[must_use]
    fn widen(self) -> f32;

    /// The nearest value of the format, ties to even.
    #[track_caller]
    #[must_use]
    fn narrow(value: f32) -> Self;

    /// Narrows both values, in one instruction from compute capability 8.0. Every NaN becomes 0x7fff.
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

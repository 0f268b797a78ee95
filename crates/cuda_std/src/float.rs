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

    /// `self * a + b`, rounded once.
    #[track_caller]
    #[must_use]
    fn mul_add(self, a: Self, b: Self) -> Self;
}

impl Float for f32 {
    const ZERO: Self = 0.0;

    #[inline(always)]
    #[track_caller]
    fn mul_add(self, a: Self, b: Self) -> Self {
        machine::mul_add_f32(self, a, b)
    }
}

impl Float for f64 {
    const ZERO: Self = 0.0;

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
}

//! Which types are summed, and in what.

use cuda_std::Pod;
use cuda_std::float::{Float, HalfFloat};
use cuda_std::warp::LaneValue;
use half::{bf16, f16};

/// What a sum is held in: f32 or f64, rounded at each addition; i64 or u64, wrapping.
pub trait Accumulator: LaneValue {
    /// The empty sum.
    const ZERO: Self;

    /// `self + other`.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// The same sum, as it is returned: one NaN stands for all of them.
    #[must_use]
    fn canonical(self) -> Self;
}

/// A type whose arrays are summed.
pub trait Summand: Pod {
    /// What the sum is held in: wide enough that a single element is exact in it.
    type Sum: Accumulator;

    /// The element, exactly, in the type of the sum.
    #[must_use]
    fn widen(self) -> Self::Sum;
}

macro_rules! accumulators {
    ($($sum:ty: $zero:expr, $plus:expr, $canonical:expr;)*) => {$(
        impl Accumulator for $sum {
            const ZERO: Self = $zero;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                $plus(self, other)
            }

            #[inline(always)]
            fn canonical(self) -> Self {
                $canonical(self)
            }
        }
    )*};
}
accumulators! {
    f32: 0.0, core::ops::Add::add, Float::canonical_nan;
    f64: 0.0, core::ops::Add::add, Float::canonical_nan;
    i64: 0, i64::wrapping_add, core::convert::identity;
    u64: 0, u64::wrapping_add, core::convert::identity;
}

macro_rules! summands {
    ($($element:ty => $sum:ty: $widen:expr;)*) => {$(
        impl Summand for $element {
            type Sum = $sum;

            #[inline(always)]
            fn widen(self) -> $sum {
                $widen(self)
            }
        }
    )*};
}
summands! {
    f32 => f32: core::convert::identity;
    f64 => f64: core::convert::identity;
    f16 => f32: HalfFloat::widen;
    bf16 => f32: HalfFloat::widen;
    i32 => i64: i64::from;
    u32 => u64: u64::from;
    i64 => i64: core::convert::identity;
    u64 => u64: core::convert::identity;
}

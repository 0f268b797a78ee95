//! Elements that are computed in f64.

use cuda_std::Pod;
use cuda_std::float::{Float, HalfFloat};
use half::{bf16, f16};

/// An element that is computed in f64, and the type of the result.
pub trait Number: Pod {
    /// f64 for f64 and for integers, f32 for the narrower floats.
    type Result: Float;

    /// The value in f64: exact, except for integers beyond 2^53, which are rounded to nearest.
    #[must_use]
    fn wide(self) -> f64;

    /// The nearest value of the result's type, or the canonical NaN.
    #[must_use]
    fn narrow(value: f64) -> Self::Result;
}

macro_rules! numbers {
    ($($element:ty => $result:ty: $wide:expr;)*) => {$(
        impl Number for $element {
            type Result = $result;

            #[inline(always)]
            fn wide(self) -> f64 {
                $wide(self)
            }

            #[inline(always)]
            fn narrow(value: f64) -> $result {
                (value as $result).canonical_nan()
            }
        }
    )*};
}
numbers! {
    f32 => f32: f64::from;
    f64 => f64: core::convert::identity;
    f16 => f32: |element| f64::from(HalfFloat::widen(element));
    bf16 => f32: |element| f64::from(HalfFloat::widen(element));
    i8 => f64: f64::from;
    u8 => f64: f64::from;
    i16 => f64: f64::from;
    u16 => f64: f64::from;
    i32 => f64: f64::from;
    u32 => f64: f64::from;
    i64 => f64: |element| element as f64;
    u64 => f64: |element| element as f64;
}

/// A floating-point [`Number`].
pub trait Real: Number {}

impl Real for f32 {}
impl Real for f64 {}
impl Real for f16 {}
impl Real for bf16 {}

/// 2^`exponent`, a normal number.
pub(super) const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

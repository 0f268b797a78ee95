//! The sum.

use crate::reduce::operation::Reduction;
use cuda_std::float::{Float, HalfFloat};
use half::{bf16, f16};

/// The sum of all elements; 0 for empty input.
///
/// Floats are rounded at each addition, in f64 for f64 and in f32 otherwise; every NaN is the canonical one. Integers
/// are added in 64 bits and wrap.
#[derive(Clone, Copy, Debug)]
pub struct Sum;

macro_rules! sums {
    ($($element:ty => $sum:ty: $to_accumulator:expr, $add:expr, $finish:expr;)*) => {$(
        impl Reduction<$element> for Sum {
            type Accumulator = $sum;
            type Output = $sum;
            const IDENTITY: $sum = 0 as $sum;
            const IS_TOTAL: bool = true;

            #[inline(always)]
            fn lift(element: $element, _index: usize) -> $sum {
                $to_accumulator(element)
            }

            #[inline(always)]
            fn combine(left: $sum, right: $sum) -> $sum {
                $add(left, right)
            }

            #[inline(always)]
            fn finish(total: $sum, _elements: usize) -> $sum {
                $finish(total)
            }
        }
    )*};
}
sums! {
    f32 => f32: core::convert::identity, core::ops::Add::add, Float::canonical_nan;
    f64 => f64: core::convert::identity, core::ops::Add::add, Float::canonical_nan;
    f16 => f32: HalfFloat::widen, core::ops::Add::add, Float::canonical_nan;
    bf16 => f32: HalfFloat::widen, core::ops::Add::add, Float::canonical_nan;
    i8 => i64: i64::from, i64::wrapping_add, core::convert::identity;
    u8 => u64: u64::from, u64::wrapping_add, core::convert::identity;
    i16 => i64: i64::from, i64::wrapping_add, core::convert::identity;
    u16 => u64: u64::from, u64::wrapping_add, core::convert::identity;
    i32 => i64: i64::from, i64::wrapping_add, core::convert::identity;
    u32 => u64: u64::from, u64::wrapping_add, core::convert::identity;
    i64 => i64: core::convert::identity, i64::wrapping_add, core::convert::identity;
    u64 => u64: core::convert::identity, u64::wrapping_add, core::convert::identity;
}

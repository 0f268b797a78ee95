//! The mean, without intermediate overflow.

use super::number::{Number, power_of_two};
use crate::reduce::operation::Reduction;
use cuda_std::float::Float as _;
use half::{bf16, f16};

/// The arithmetic mean: the f64 sum divided by the number of elements, rounded to the result. NaN without elements.
///
/// For f64 there are two sums: of magnitudes up to 2^960, and of the others, scaled down. Neither overflows for up to
/// 2^63 elements, and the mean of finite numbers is finite.
#[derive(Clone, Copy, Debug)]
pub struct Mean;

macro_rules! means_in_f64 {
    ($($element:ty)*) => {$(
        impl Reduction<$element> for Mean {
            type Accumulator = f64;
            type Output = <$element as Number>::Result;
            const IDENTITY: f64 = 0.0;
            const IS_TOTAL: bool = true;

            #[inline(always)]
            fn lift(element: $element, _index: usize) -> f64 {
                element.wide()
            }

            #[inline(always)]
            fn combine(left: f64, right: f64) -> f64 {
                left + right
            }

            #[inline(always)]
            fn finish(total: f64, elements: usize) -> Self::Output {
                <$element as Number>::narrow(total / elements as f64)
            }
        }
    )*};
}
means_in_f64!(f32 f16 bf16 i32 u32 i64 u64);

/// Narrow integers, whose sums are exact: conversions to f64 would take longer than their bytes.
macro_rules! means_in_i64 {
    ($($element:ty)*) => {$(
        impl Reduction<$element> for Mean {
            type Accumulator = i64;
            type Output = f64;
            const IDENTITY: i64 = 0;
            const IS_TOTAL: bool = true;

            #[inline(always)]
            fn lift(element: $element, _index: usize) -> i64 {
                element.into()
            }

            #[inline(always)]
            fn combine(left: i64, right: i64) -> i64 {
                left.wrapping_add(right)
            }

            #[inline(always)]
            fn finish(total: i64, elements: usize) -> f64 {
                <$element as Number>::narrow(total as f64 / elements as f64)
            }
        }
    )*};
}
means_in_i64!(i8 u8 i16 u16);

/// The sum of 2^63 magnitudes up to this one is finite.
const BIG: f64 = power_of_two(960);
/// The scale of larger magnitudes, which brings them below `BIG`.
const OF_BIG: f64 = power_of_two(-64);

impl Reduction<f64> for Mean {
    /// The sum of magnitudes up to `BIG`, and the scaled sum of the others.
    type Accumulator = [f64; 2];
    type Output = f64;
    const IDENTITY: [f64; 2] = [0.0; 2];
    const IS_TOTAL: bool = true;

    #[inline(always)]
    fn lift(element: f64, _index: usize) -> [f64; 2] {
        // False for a NaN.
        let is_big = element.abs() > BIG;
        [
            if is_big { 0.0 } else { element },
            if is_big { element * OF_BIG } else { 0.0 },
        ]
    }

    #[inline(always)]
    fn combine(left: [f64; 2], right: [f64; 2]) -> [f64; 2] {
        [left[0] + right[0], left[1] + right[1]]
    }

    #[inline(always)]
    fn finish([others, big]: [f64; 2], elements: usize) -> f64 {
        const GREATEST: f64 = f64::MAX * OF_BIG;
        let elements = elements as f64;
        let mean = if big == 0.0 {
            others / elements
        } else {
            // Next to `big`, the bits that `others` loses by scaling are far below half a unit in the last place.
            let scaled = (big + others * OF_BIG) / elements;
            // Only rounding can make a mean of finite numbers exceed the largest f64.
            let is_beyond = scaled.abs() > GREATEST && scaled.abs() < f64::INFINITY;
            let bounded = if is_beyond {
                GREATEST.copysign(scaled)
            } else {
                scaled
            };
            bounded / OF_BIG
        };
        mean.canonical_nan()
    }
}

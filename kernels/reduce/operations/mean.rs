//! The mean, without overflow on the way.

use super::number::{Number, power_of_two};
use crate::reduce::operation::Reduction;
use cuda_std::float::Float as _;
use half::{bf16, f16};

/// The arithmetic mean, of no elements NaN: the sum in f64, divided by the number of elements and
/// rounded to the result.
///
/// For f64 the sum is in two parts: that of the magnitudes up to 2^960, and that of the others, scaled down.
/// Neither overflows for up to 2^63 elements, and the mean of finite numbers is a finite number.
#[derive(Clone, Copy, Debug)]
pub struct Mean;

macro_rules! means_in_f64 {
    ($($element:ty)*) => {$(
        impl Reduction<$element> for Mean {
            type Accumulator = f64;
            type Output = <$element as Number>::Result;
            const IDENTITY: f64 = 0.0;

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

/// 2^63 magnitudes up to this have a finite sum.
const BIG: f64 = power_of_two(960);
/// Brings larger ones to this, too.
const OF_BIG: f64 = power_of_two(-64);

impl Reduction<f64> for Mean {
    /// The sum of all but the big, and that of the big, scaled.
    type Accumulator = [f64; 2];
    type Output = f64;
    const IDENTITY: [f64; 2] = [0.0; 2];

    #[inline(always)]
    fn lift(element: f64, _index: usize) -> [f64; 2] {
        // A NaN is not.
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
            // Beside the big what `others` loses by its scale is far below half a unit in the last place.
            let scaled = (big + others * OF_BIG) / elements;
            // Roundings alone bring a mean of finite numbers beyond the greatest of them.
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

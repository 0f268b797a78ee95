//! The variance in one pass, without overflow on the way.

use super::number::{Number, power_of_two};
use crate::reduce::operation::Reduction;
use cuda_std::float::Float as _;
use half::{bf16, f16};

/// The variance: the mean of the squared deviations from the mean, divided by the number of elements
/// n and not by n - 1. It is NaN of no elements and where an element is no finite number.
///
/// One pass in f64: an accumulator is a number of elements, their sum, and the sum of the squared
/// deviations from their mean. Two are combined as in Chan, Golub and LeVeque (Updating Formulae and
/// a Pairwise Algorithm for Computing Sample Variances, 1979, 2.1), written such that the sides can
/// be exchanged without a change of a bit.
///
/// For f64 sums are scaled down, and of the squares those that could overflow are in a sum of their own, which
/// is scaled down, too. Scales are powers of two, so that they change no bit of the other squares.
#[derive(Clone, Copy, Debug)]
pub struct Variance;

/// The squared difference of the means of two parts, times the share of pairs, given `apart`, which is the
/// difference times the number of pairs.
#[inline(always)]
fn between(apart: f64, pairs: f64, elements: f64) -> f64 {
    if pairs == 0.0 {
        0.0
    } else {
        apart * apart / (pairs * elements)
    }
}

/// 0, or NaN where the sum is not finite.
#[inline(always)]
#[expect(
    clippy::eq_op,
    reason = "it is NaN where the sum is not finite, and 0 otherwise"
)]
fn nan_of_infinite(sum: f64) -> f64 {
    sum - sum
}

macro_rules! variances_in_f64 {
    ($($element:ty)*) => {$(
        impl Reduction<$element> for Variance {
            /// Elements, sum, sum of squared deviations.
            type Accumulator = [f64; 3];
            type Output = <$element as Number>::Result;
            const IDENTITY: [f64; 3] = [0.0; 3];

            #[inline(always)]
            fn lift(element: $element, _index: usize) -> [f64; 3] {
                [1.0, element.wide(), 0.0]
            }

            #[inline(always)]
            fn combine(left: [f64; 3], right: [f64; 3]) -> [f64; 3] {
                let elements = left[0] + right[0];
                let apart = left[1] * right[0] - right[1] * left[0];
                let between = between(apart, left[0] * right[0], elements);
                [elements, left[1] + right[1], left[2] + right[2] + between]
            }

            #[inline(always)]
            fn finish([_, sum, deviations]: [f64; 3], elements: usize) -> Self::Output {
                let variance = deviations / elements as f64;
                <$element as Number>::narrow(variance + nan_of_infinite(sum))
            }
        }
    )*};
}
variances_in_f64!(f32 f16 bf16);

/// The scale of sums: with it n^2 max |x| / 2 is below 2^1024 for n up to 2^64. It takes bits from elements below
/// 2^-894 alone, whose deviations have squares that are 0 in f64.
const OF_SUMS: f64 = power_of_two(-128);
/// The differences of means, times pairs, from which on squares have their own sum, as the upper half of their
/// bits: below 2^480 the sum of 2^64 squares is below 2^1024.
const FAR: u32 = (power_of_two(480 - 128).to_bits() >> 32) as u32;
/// The scale of larger ones: from 2^-120 to 2^489.
const OF_FAR: f64 = power_of_two(-600);

impl Reduction<f64> for Variance {
    /// Elements, scaled sum, sum of squared deviations without the far ones, scaled sum of those.
    type Accumulator = [f64; 4];
    type Output = f64;
    const IDENTITY: [f64; 4] = [0.0; 4];

    #[inline(always)]
    fn lift(element: f64, _index: usize) -> [f64; 4] {
        [1.0, element * OF_SUMS, 0.0, 0.0]
    }

    #[inline(always)]
    fn combine(left: [f64; 4], right: [f64; 4]) -> [f64; 4] {
        let elements = left[0] + right[0];
        let apart = left[1] * right[0] - right[1] * left[0];
        // Compared as integers: the units for f64 are what a GPU waits for here. Infinity and NaN are far.
        let is_far = (apart.to_bits() >> 32) as u32 & 0x7fff_ffff >= FAR;
        let scale = if is_far {
            OF_FAR / OF_SUMS
        } else {
            1.0 / OF_SUMS
        };
        let between = between(apart * scale, left[0] * right[0], elements);
        let (near, far) = if is_far {
            (0.0, between)
        } else {
            (between, 0.0)
        };
        [
            elements,
            left[1] + right[1],
            left[2] + right[2] + near,
            left[3] + right[3] + far,
        ]
    }

    #[inline(always)]
    fn finish([_, sum, near, far]: [f64; 4], elements: usize) -> f64 {
        let elements = elements as f64;
        let variance = if far == 0.0 {
            near / elements
        } else {
            // Beside the far what `near` loses by its scale is far below half a unit in the last place.
            (far + near * OF_FAR * OF_FAR) / elements / OF_FAR / OF_FAR
        };
        (variance + nan_of_infinite(sum)).canonical_nan()
    }
}

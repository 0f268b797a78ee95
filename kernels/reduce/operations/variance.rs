//! The variance in one pass, without intermediate overflow.

use super::number::{Number, power_of_two};
use crate::reduce::operation::Reduction;
use cuda_std::float::Float as _;
use half::{bf16, f16};

/// The population variance: the mean of the squared deviations from the mean, divided by n, not n - 1. NaN without
/// elements, or if an element is not finite.
///
/// One pass in f64. An accumulator is a number of elements, their sum, and the sum of squared deviations from their
/// mean. Two are combined as in Chan, Golub and LeVeque (Updating Formulae and a Pairwise Algorithm for Computing
/// Sample Variances, 1979, 2.1), in a form that is commutative to the last bit.
///
/// For f64, sums are scaled down, and squares that could overflow have a separate sum, also scaled down. Scales are
/// powers of two, so they change no bit of the other squares.
#[derive(Clone, Copy, Debug)]
pub struct Variance;

/// The squared difference of the means of two parts, weighted by pairs over elements. `apart` is the difference times
/// the number of pairs.
#[inline(always)]
fn between(apart: f64, pairs: f64, elements: f64) -> f64 {
    if pairs == 0.0 {
        0.0
    } else {
        apart * apart / (pairs * elements)
    }
}

/// 0, or NaN if the sum is not finite.
#[inline(always)]
#[expect(
    clippy::eq_op,
    reason = "it is NaN if the sum is not finite, and 0 otherwise"
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
            const IS_TOTAL: bool = true;

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

/// The scale of sums, with which n^2 max |x| / 2 is below 2^1024 for n up to 2^64. Only elements
/// below 2^-894 lose bits, and the squares of their deviations are 0 in f64.
const OF_SUMS: f64 = power_of_two(-128);
/// The smallest difference of means, times pairs, whose square goes to the separate sum, as the upper half of its
/// bits. Below 2^480 the sum of 2^64 squares is below 2^1024.
const FAR: u32 = (power_of_two(480 - 128).to_bits() >> 32) as u32;
/// The scale of larger differences: from 2^-120 to 2^489.
const OF_FAR: f64 = power_of_two(-600);

impl Reduction<f64> for Variance {
    /// Elements, scaled sum, sum of near squared deviations, scaled sum of far ones.
    type Accumulator = [f64; 4];
    type Output = f64;
    const IDENTITY: [f64; 4] = [0.0; 4];
    const IS_TOTAL: bool = true;

    #[inline(always)]
    fn lift(element: f64, _index: usize) -> [f64; 4] {
        [1.0, element * OF_SUMS, 0.0, 0.0]
    }

    #[inline(always)]
    fn combine(left: [f64; 4], right: [f64; 4]) -> [f64; 4] {
        let elements = left[0] + right[0];
        let apart = left[1] * right[0] - right[1] * left[0];
        // Compared as integers, because the f64 units limit this code. Infinity and NaN are far.
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
            // Next to `far`, the bits that `near` loses by scaling are far below half a unit in the last place.
            (far + near * OF_FAR * OF_FAR) / elements / OF_FAR / OF_FAR
        };
        (variance + nan_of_infinite(sum)).canonical_nan()
    }
}

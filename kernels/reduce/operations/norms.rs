//! The Euclidean norm and the maximum norm.

use super::number::{Number, Real, power_of_two};
use super::order::{Magnitude, Rank};
use crate::reduce::operation::Reduction;
use cuda_std::float::Float as _;
use cuda_std::math::sqrt;
use half::{bf16, f16};

/// The square root of the sum of squares, without intermediate overflow or underflow.
///
/// For f32, f16 and bf16, squares are exact in f64, and the sum neither overflows nor underflows. For f64 there are
/// three sums, by magnitude: numbers whose squares would underflow are scaled up, and those whose squares would
/// overflow are scaled down (Blue, A Portable Fortran Program to Find the Euclidean Norm of a Vector, 1978, with the
/// constants of Anderson, Algorithm 978, 2017). A result that exceeds the largest f64 by a relative error of at most
/// 2^-40 becomes that f64, so a finite norm is never returned as infinity.
#[derive(Clone, Copy, Debug)]
pub struct Norm2;

/// The greatest magnitude, or the canonical NaN if there is a NaN. 0 without elements.
#[derive(Clone, Copy, Debug)]
pub struct NormInf;

macro_rules! norms_in_f64 {
    ($($element:ty)*) => {$(
        impl Reduction<$element> for Norm2 {
            type Accumulator = f64;
            type Output = <$element as Number>::Result;
            const IDENTITY: f64 = 0.0;
            const IS_TOTAL: bool = true;

            #[inline(always)]
            fn lift(element: $element, _index: usize) -> f64 {
                let value = element.wide();
                value * value
            }

            #[inline(always)]
            fn combine(left: f64, right: f64) -> f64 {
                left + right
            }

            #[inline(always)]
            fn finish(total: f64, _elements: usize) -> Self::Output {
                <$element as Number>::narrow(sqrt(total))
            }
        }
    )*};
}
norms_in_f64!(f32 f16 bf16);

/// Below this, squares or their rounding errors underflow.
const SMALL: f64 = power_of_two(-511);
/// Above this, the sum of squares may overflow.
const BIG: f64 = power_of_two(486);
/// The scales of small and big magnitudes.
const OF_SMALL: f64 = power_of_two(537);
const OF_BIG: f64 = power_of_two(-538);
/// The largest norm, scaled, and its bound after rounding: the relative error of the tree over any buffer is below
/// 2^-40.
const GREATEST: f64 = f64::MAX * OF_BIG;
const ABOUT_GREATEST: f64 = GREATEST * (1.0 + power_of_two(-40));

/// The sums of squares of small, middle and big magnitudes, each with its scale.
type ScaledSums = [f64; 3];

impl Reduction<f64> for Norm2 {
    type Accumulator = ScaledSums;
    type Output = f64;
    const IDENTITY: ScaledSums = [0.0; 3];
    const IS_TOTAL: bool = true;

    #[inline(always)]
    fn lift(element: f64, _index: usize) -> ScaledSums {
        let magnitude = element.abs();
        let (is_small, is_big) = (magnitude < SMALL, magnitude > BIG);
        // A NaN is neither, so it is in the middle sum.
        let scale = if is_small {
            OF_SMALL
        } else if is_big {
            OF_BIG
        } else {
            1.0
        };
        let term = magnitude * scale;
        let square = term * term;
        [
            if is_small { square } else { 0.0 },
            if is_small || is_big { 0.0 } else { square },
            if is_big { square } else { 0.0 },
        ]
    }

    #[inline(always)]
    fn combine(left: ScaledSums, right: ScaledSums) -> ScaledSums {
        [left[0] + right[0], left[1] + right[1], left[2] + right[2]]
    }

    #[inline(always)]
    fn finish([small, middle, big]: ScaledSums, _elements: usize) -> f64 {
        let norm = if big > 0.0 {
            // Next to the big, the small are far below half a unit in the last place.
            let scaled = sqrt(big + middle * OF_BIG * OF_BIG);
            let is_about_greatest = scaled > GREATEST && scaled < ABOUT_GREATEST;
            (if is_about_greatest { GREATEST } else { scaled }) / OF_BIG
        } else if small > 0.0 && middle > 0.0 {
            let (small, middle) = (sqrt(small) / OF_SMALL, sqrt(middle));
            let (less, more) = if small < middle {
                (small, middle)
            } else {
                (middle, small)
            };
            let ratio = less / more;
            more * sqrt(1.0 + ratio * ratio)
        } else if small > 0.0 && middle == 0.0 {
            sqrt(small) / OF_SMALL
        } else {
            sqrt(middle)
        };
        norm.canonical_nan()
    }
}

impl<T: Real + Magnitude> Reduction<T> for NormInf {
    type Accumulator = T::Bits;
    type Output = T;
    const IDENTITY: T::Bits = T::Bits::LOWEST;
    const IS_TOTAL: bool = true;

    #[inline(always)]
    fn lift(element: T, _index: usize) -> T::Bits {
        element.magnitude()
    }

    #[inline(always)]
    fn combine(left: T::Bits, right: T::Bits) -> T::Bits {
        left.max(right)
    }

    #[inline(always)]
    fn finish(total: T::Bits, _elements: usize) -> T {
        T::of_magnitude(total)
    }
}

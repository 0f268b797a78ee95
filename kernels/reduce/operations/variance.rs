//! The variance in one pass.

use super::number::Real;
use crate::reduce::operation::Reduction;

/// The variance: the mean of the squared deviations from the mean, divided by the number of elements
/// n and not by n - 1. It is NaN of no elements and where an element, or the sum, is no finite number.
///
/// One pass in f64: an accumulator is a number of elements, their sum, and the sum of the squared
/// deviations from their mean. Two are combined as in Chan, Golub and LeVeque (Updating Formulae and
/// a Pairwise Algorithm for Computing Sample Variances, 1979, 2.1), written such that the sides can
/// be exchanged without a change of a bit.
#[derive(Clone, Copy, Debug)]
pub struct Variance;

impl<T: Real> Reduction<T> for Variance {
    /// Elements, sum, sum of squared deviations.
    type Accumulator = [f64; 3];
    type Output = T::Result;
    const IDENTITY: [f64; 3] = [0.0; 3];

    #[inline(always)]
    fn lift(element: T, _index: usize) -> [f64; 3] {
        [1.0, element.wide(), 0.0]
    }

    #[inline(always)]
    fn combine(left: [f64; 3], right: [f64; 3]) -> [f64; 3] {
        let elements = left[0] + right[0];
        let pairs = left[0] * right[0];
        // The difference of the means, times the number of pairs.
        let apart = left[1] * right[0] - right[1] * left[0];
        let between = if pairs == 0.0 {
            0.0
        } else {
            apart * apart / (pairs * elements)
        };
        [elements, left[1] + right[1], left[2] + right[2] + between]
    }

    #[inline(always)]
    #[expect(
        clippy::eq_op,
        reason = "it is NaN where the sum is not finite, and 0 otherwise"
    )]
    fn finish([_, sum, deviations]: [f64; 3], elements: usize) -> T::Result {
        T::narrow(deviations / elements as f64 + (sum - sum))
    }
}

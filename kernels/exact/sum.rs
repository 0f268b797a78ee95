//! Sums of several numbers in f64, and the numbers to which they are rounded.

use super::element::ExactElement;
use cuda_std::float::Float;

/// `high + low`, but for `lost` at most.
#[derive(Clone, Copy)]
pub struct Sum {
    high: f64,
    low: f64,
    lost: f64,
}

impl Sum {
    /// The sum of `terms`, the largest last. It is exact, and `lost` is 0, if it has few bits.
    #[inline(always)]
    pub fn of<const TERMS: usize>(terms: [f64; TERMS]) -> Self {
        let mut sum = Self {
            high: terms[TERMS - 1],
            low: 0.0,
            lost: 0.0,
        };
        let mut i = TERMS - 1;
        while i > 0 {
            i -= 1;
            let [high, low] = sum.high.two_sum(terms[i]);
            let [low, lost] = sum.low.two_sum(low);
            sum = Self {
                high,
                low,
                lost: sum.lost + lost.abs(),
            };
        }
        sum
    }

    /// The sum times 2^exponent, rounded to the nearest, ties to even, but for results below the normal numbers of f64,
    /// which are rounded twice, and sums of which more is `lost` than the distance from the middle between two numbers.
    /// Zero is positive.
    #[inline(always)]
    pub fn rounded<T: ExactElement>(&self, exponent: i32) -> T {
        T::of_sum(self.high, self.low, exponent)
    }

    /// `x * 2^exponent`, rounded to the nearest, ties to even, if all x that differ from the sum by at most `bound` are
    /// rounded to the same number.
    ///
    /// Rounding is monotonic, so it is certain if both ends are rounded alike.
    #[inline(always)]
    pub fn rounded_if_certain<T: ExactElement>(&self, bound: f64, exponent: i32) -> Option<T> {
        const MORE: f64 = 1.0 + f64::EPSILON * 16.0;
        let bound = match bound + self.lost {
            0.0 => 0.0,
            // What the sums here lose is counted, too.
            bound => Float::mul_add(self.low.abs(), 2.0 * f64::EPSILON, bound * MORE),
        };
        let least: T = T::of_sum(self.high, self.low - bound, exponent);
        let most: T = T::of_sum(self.high, self.low + bound, exponent);
        let is_zero = self.high == 0.0 && self.low == 0.0;
        match least == most && (is_zero || most.is_rounded_once()) {
            true => Some(most),
            false => None,
        }
    }
}

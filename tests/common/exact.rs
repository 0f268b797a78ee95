//! Sums that are far more accurate than what is tested, and the error bounds of what is tested.

pub use tilewright_test_support::rounding::Rounding;

use approx::assert_abs_diff_eq;
use tilewright_test_support::rounding::gamma;

/// A sum as if added in twice the precision of f64 and rounded at the end, as the unevaluated sum
/// of two f64: Sum2 and Dot2 of Ogita, Rump and Oishi, Accurate Sum and Dot Product (2005).
#[derive(Clone, Copy, Default)]
pub struct Compensated {
    sum: f64,
    lost: f64,
    /// The sum of the terms' magnitudes.
    magnitude: f64,
}

impl Compensated {
    pub fn add(&mut self, term: f64) {
        self.accumulate(term);
        self.magnitude += term.abs();
    }

    pub fn add_product(&mut self, left: f64, right: f64) {
        let product = left * right;
        self.add(product);
        self.lost += left.mul_add(right, -product);
    }

    /// The sum, and what it lacks.
    pub fn parts(&self) -> (f64, f64) {
        (self.sum, self.lost)
    }

    /// Knuth's TwoSum.
    fn accumulate(&mut self, term: f64) {
        let sum = self.sum + term;
        let of_term = sum - self.sum;
        self.lost += (self.sum - (sum - of_term)) + (term - of_term);
        self.sum = sum;
    }

    /// Fails unless `computed` has at most the error of `operations` roundings one after another
    /// in T: gamma_operations times the sum of the terms' magnitudes.
    #[track_caller]
    pub fn assert_close<T: Rounding>(&self, computed: T, operations: usize) {
        let bound = gamma::<T>(operations) * self.magnitude;
        assert_abs_diff_eq!(computed.into() - self.sum, self.lost, epsilon = bound);
    }
}

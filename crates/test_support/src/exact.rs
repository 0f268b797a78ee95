//! Sums that are far more accurate than what is tested, and the error bounds of what is tested.

pub use crate::rounding::Rounding;

use crate::rounding::gamma;
use approx::assert_abs_diff_eq;

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
    /// Adds `term`.
    pub fn add(&mut self, term: f64) {
        self.accumulate(term);
        self.magnitude += term.abs();
    }

    /// Adds the product, with what its rounding loses.
    pub fn add_product(&mut self, left: f64, right: f64) {
        let product = left * right;
        self.add(product);
        self.lost += left.mul_add(right, -product);
    }

    /// The sum, and what it lacks.
    #[must_use]
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
    ///
    /// # Panics
    ///
    /// If the error is larger.
    #[track_caller]
    pub fn assert_close<T: Rounding>(&self, computed: T, operations: usize) {
        let bound = gamma::<T>(operations) * self.magnitude;
        assert_abs_diff_eq!(computed.into() - self.sum, self.lost, epsilon = bound);
    }
}

/// An exact sum of f64, none of whose partial sums overflows: f64 that do not overlap, the smallest
/// first, whose sum it is (Shewchuk, Adaptive Precision Floating-Point Arithmetic and Fast Robust
/// Geometric Predicates, 1997).
#[derive(Clone, Default)]
pub struct Expansion {
    parts: Vec<f64>,
}

impl Expansion {
    /// Adds `term`.
    pub fn add(&mut self, term: f64) {
        let mut term = term;
        let mut kept = 0;
        for at in 0..self.parts.len() {
            let part = self.parts[at];
            let (large, small) = if part.abs() < term.abs() {
                (term, part)
            } else {
                (part, term)
            };
            let sum = large + small;
            let lost = small - (sum - large);
            if lost != 0.0 {
                self.parts[kept] = lost;
                kept += 1;
            }
            term = sum;
        }
        self.parts.truncate(kept);
        if term != 0.0 {
            self.parts.push(term);
        }
    }

    /// The sum, rounded to the odd neighbour where it is between two: another rounding to at most 51 bits
    /// then gives what one rounding does (Boldo and Melquiond, Emulation of FMA and correctly rounded
    /// sums: proved algorithms using rounding to odd, 2008).
    fn to_odd(&self) -> f64 {
        let mut parts = self.parts.iter().rev();
        let mut sum = 0.0;
        for &part in parts.by_ref() {
            let next = sum + part;
            let lost = part - (next - sum);
            sum = next;
            if lost != 0.0 {
                return odd_neighbour(sum, lost);
            }
        }
        sum
    }

    /// The sum, rounded once.
    #[must_use]
    pub fn to_f32(&self) -> f32 {
        self.to_odd() as f32
    }

    /// The sum, rounded once.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        let mut sum = 0.0;
        let mut parts = self.parts.iter().rev().copied();
        while let Some(part) = parts.next() {
            let next: f64 = sum + part;
            let lost = part - (next - sum);
            sum = next;
            if lost != 0.0 {
                // A tie goes to even, but for what comes behind it.
                let beyond = sum + 2.0 * lost;
                let is_tie = beyond - sum == 2.0 * lost;
                let goes_on = parts.next().is_some_and(|rest| rest * lost.signum() > 0.0);
                return if is_tie && goes_on { beyond } else { sum };
            }
        }
        sum
    }
}

/// Whichever has an odd significand: `sum`, or its neighbour in the direction of `lost`.
fn odd_neighbour(sum: f64, lost: f64) -> f64 {
    let bits = sum.to_bits();
    if bits % 2 == 1 {
        sum
    } else if lost.is_sign_negative() == sum.is_sign_negative() {
        f64::from_bits(bits + 1)
    } else {
        f64::from_bits(bits - 1)
    }
}

//! Dot products in an accumulator as wide as all sums of products of f64, by other means than the reference in integers
//! of any length, and a thousand times as fast.

use crate::reference::Float;

/// Bits of a digit.
const DIGIT: u64 = 32;

/// The exponent of the least subnormal of f64.
const LEAST: i64 = -1074;

/// Digits for products below 2^2048, and carries.
const DIGITS: usize = ((2048 - 2 * LEAST) as usize).div_ceil(DIGIT as usize) + 4;

/// A sum in units of 2^-2148. Digits are not carried until it is rounded.
struct Accumulator([i64; DIGITS]);

/// A finite number as an integer times 2^(exponent - 1074), and whether it is negative.
fn parts(x: f64) -> (u64, u64, bool) {
    let bits = x.to_bits();
    let (exponent, fraction) = (bits >> 52 & 0x7FF, bits & ((1 << 52) - 1));
    let integer = fraction | u64::from(exponent > 0) << 52;
    (integer, exponent.saturating_sub(1), x.is_sign_negative())
}

impl Accumulator {
    fn add(&mut self, a: f64, b: f64) {
        let ((a, of_a, a_sign), (b, of_b, b_sign)) = (parts(a), parts(b));
        let (product, exponent) = (u128::from(a) * u128::from(b), of_a + of_b);
        let sign = if a_sign == b_sign { 1 } else { -1 };
        let first = (exponent / DIGIT) as usize;
        for i in 0..4 {
            let digit = (product >> (DIGIT * i)) as u32;
            let shifted = u64::from(digit) << (exponent % DIGIT);
            let at = first + i as usize;
            self.0[at] += sign * i64::from(shifted as u32);
            self.0[at + 1] += sign * (shifted >> DIGIT) as i64;
        }
    }

    /// Carries, and returns whether the sum is negative; the digits become those of its magnitude.
    fn carry(&mut self) -> bool {
        let carried = |digits: &mut [i64; DIGITS]| {
            let mut carry = 0;
            for digit in digits {
                let sum = *digit + carry;
                (*digit, carry) = (sum & 0xFFFF_FFFF, sum >> DIGIT);
            }
            carry < 0
        };
        let is_negative = carried(&mut self.0);
        if is_negative {
            self.0.iter_mut().for_each(|it| *it = -*it);
            carried(&mut self.0);
        }
        is_negative
    }

    fn bit(&self, at: i64) -> bool {
        at >= 0 && self.0[at as usize / DIGIT as usize] >> (at as u64 % DIGIT) & 1 == 1
    }

    /// The sum, rounded to the nearest number of type `T`, ties to even.
    fn rounded<T: Float>(mut self) -> T {
        let is_negative = self.carry();
        let highest = (0..DIGITS as i64 * DIGIT as i64)
            .rev()
            .find(|&at| self.bit(at));
        let Some(highest) = highest else {
            return T::of_f64(0.0);
        };
        let least = 2 - T::BIAS - T::PRECISION as i64 - 2 * LEAST;
        let unit = least.max(highest + 1 - T::PRECISION as i64);
        let kept = (unit..=highest)
            .rev()
            .fold(0_u64, |kept, at| kept << 1 | u64::from(self.bit(at)));
        let is_half = self.bit(unit - 1);
        let has_more = || (0..unit - 1).any(|at| self.bit(at));
        let is_up = is_half && (kept & 1 == 1 || has_more());
        // Exact: the factors are powers of two, and the product has no more bits than the type.
        let exponent = (unit + 2 * LEAST) as i32;
        let half = exponent / 2;
        let integer = (kept + u64::from(is_up)) as f64;
        let magnitude = integer * 2f64.powi(half) * 2f64.powi(exponent - half);
        T::of_f64(if is_negative { -magnitude } else { magnitude })
    }
}

/// The dot product of finite `terms`.
pub fn dot<T: Float>(terms: impl IntoIterator<Item = (T, T)>) -> T {
    let mut sum = Accumulator([0; DIGITS]);
    for (a, b) in terms {
        sum.add(a.wide(), b.wide());
    }
    sum.rounded()
}

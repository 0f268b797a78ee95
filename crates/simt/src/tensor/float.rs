//! Products with floating-point accumulators.

use super::format::{Format, Operand};
use super::rounding::{Rounding, Sum};

/// The most products that one fused step adds.
const MAX_STEP: usize = 32;

/// A tensor-core instruction with floating-point operands and accumulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatUnit {
    /// The format of A's elements.
    pub a: Format,
    /// The format of B's elements.
    pub b: Format,
    /// The format of accumulators and results.
    pub accumulator: Format,
    /// Products that are added to the accumulator in one step: at most 32. An instruction with
    /// more of them rounds after each step.
    pub step: usize,
    /// Bits kept of each term, below the largest exponent among the terms.
    pub term_bits: u32,
    /// The lowest exponent that terms are aligned to.
    pub lowest_alignment: i32,
    /// Bits kept of the result's fraction.
    pub result_bits: u32,
    /// How the sum is rounded to those.
    pub rounding: Rounding,
    /// The bits of a result that is not a number.
    pub nan: u32,
}

impl FloatUnit {
    /// The same unit for operands of other formats, such as a pair of `e4m3` and `e5m2`.
    #[must_use]
    pub const fn of(self, a: Format, b: Format) -> Self {
        Self { a, b, ..self }
    }

    /// The bits of `a[0] * b[0] + a[1] * b[1] + .. + c`. Operands are the bits of their formats
    /// (8, 16 or 32 each), and so are accumulator and result; those in `f16` are the lower half.
    ///
    /// # Panics
    ///
    /// If `a` and `b` are of different lengths.
    pub fn dot<T: Copy + Into<u32>>(&self, a: &[T], b: &[T], c: u32) -> u32 {
        assert_eq!(a.len(), b.len(), "the rows of A and columns of B differ");
        let mut left = [Operand::default(); MAX_STEP];
        let mut right = [Operand::default(); MAX_STEP];
        let mut sum = c;
        for (a, b) in a.chunks(self.step).zip(b.chunks(self.step)) {
            for (operand, bits) in left.iter_mut().zip(a) {
                *operand = self.a.decode((*bits).into());
            }
            for (operand, bits) in right.iter_mut().zip(b) {
                *operand = self.b.decode((*bits).into());
            }
            sum = self.fused(&left[..a.len()], &right[..b.len()], sum);
        }
        sum
    }

    /// As [`dot`](Self::dot), of operands that [`Format::decode`] has taken apart. Whoever
    /// multiplies a matrix takes each element apart once.
    ///
    /// # Panics
    ///
    /// If `a` and `b` are of different lengths.
    pub fn dot_decoded(&self, a: &[Operand], b: &[Operand], c: u32) -> u32 {
        assert_eq!(a.len(), b.len(), "the rows of A and columns of B differ");
        let steps = a.chunks(self.step).zip(b.chunks(self.step));
        steps.fold(c, |sum, (a, b)| self.fused(a, b, sum))
    }

    /// One step: all products and the accumulator in one sum.
    #[inline]
    fn fused(&self, a: &[Operand], b: &[Operand], c: u32) -> u32 {
        let accumulator = self.accumulator.decode(c);
        let products = a.iter().zip(b);
        let highest = products
            .clone()
            .map(|(a, b)| a.exponent + b.exponent)
            .fold(accumulator.exponent, i32::max)
            .max(self.lowest_alignment);
        if highest >= Operand::FIRST_SPECIAL {
            return self.special(a, b, accumulator);
        }
        let product_scale = Scale::new(self.a.fraction_bits + self.b.fraction_bits, self.term_bits);
        let accumulator_scale = Scale::new(self.accumulator.fraction_bits, self.term_bits);
        let sum: i64 = products
            .map(|(a, b)| {
                let product = a.significand * b.significand;
                product_scale.cut(product, highest - a.exponent - b.exponent)
            })
            .sum();
        let sum =
            sum + accumulator_scale.cut(accumulator.significand, highest - accumulator.exponent);
        let sum = Sum {
            significand: sum,
            exponent: highest - self.term_bits as i32,
        };
        sum.round(self.accumulator, self.result_bits, self.rounding)
    }

    /// A step with an infinity or a NaN among its terms.
    #[cold]
    fn special(&self, a: &[Operand], b: &[Operand], accumulator: Operand) -> u32 {
        let products = a
            .iter()
            .zip(b)
            .filter(|(a, b)| a.is_special() || b.is_special());
        // A product of an infinity has the sign of both significands, and one with a zero or a NaN
        // is 0.
        let products = products.map(|(a, b)| a.significand.signum() * b.significand.signum());
        let accumulator = accumulator.is_special().then_some(accumulator.significand);
        let mut signs = products.chain(accumulator);
        let first = signs.next().unwrap_or(0);
        if first == 0 || signs.any(|sign| sign != first) {
            return self.nan;
        }
        let sign_bit = self.accumulator.exponent_bits + self.accumulator.fraction_bits;
        self.accumulator.infinity() | u32::from(first < 0) << sign_bit
    }
}

/// From a significand with its own number of bits below 1 to the number that is kept.
#[derive(Clone, Copy)]
struct Scale {
    raised: u32,
    lowered: i32,
}

impl Scale {
    const fn new(fraction_bits: u32, term_bits: u32) -> Self {
        Self {
            raised: term_bits.saturating_sub(fraction_bits),
            lowered: fraction_bits.saturating_sub(term_bits) as i32,
        }
    }

    /// The term with `below` binades to the largest exponent; what lies under the last bit is
    /// dropped from its magnitude.
    #[inline]
    fn cut(self, significand: i32, below: i32) -> i64 {
        let sign = i64::from(significand >> 31);
        let magnitude = u64::from(significand.unsigned_abs()) << self.raised;
        let kept = (magnitude >> (below + self.lowered).min(63)) as i64;
        (kept ^ sign) - sign
    }
}

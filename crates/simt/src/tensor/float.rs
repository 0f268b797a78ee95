//! Products with floating-point accumulators.

use super::format::{Format, Operand};
use super::operands::{LANES, Operands, Vector};
use super::rounding::{Rounding, Sum};

/// A tensor-core instruction with floating-point operands and accumulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatUnit {
    /// The format of A's elements.
    pub a: Format,
    /// The format of B's elements.
    pub b: Format,
    /// The format of accumulators and results.
    pub accumulator: Format,
    /// Products that one step adds to the accumulator: at most 32. An instruction with more rounds after each step.
    pub step: usize,
    /// Bits kept of each term, below the largest exponent among the terms: at most 26.
    pub term_bits: u32,
    /// The lowest exponent that terms are aligned to.
    pub lowest_alignment: i32,
    /// Bits kept of the result's fraction.
    pub result_bits: u32,
    /// Rounding of the sum to these bits.
    pub rounding: Rounding,
    /// The bits of a NaN result.
    pub nan: u32,
}

impl FloatUnit {
    /// This unit with other operand formats, such as `e4m3` and `e5m2`.
    #[must_use]
    pub const fn of(self, a: Format, b: Format) -> Self {
        Self { a, b, ..self }
    }

    /// The bits of `a[0] * b[0] + a[1] * b[1] + .. + c`.
    ///
    /// Operands, accumulator and result are bits of their formats (8, 16 or 32 each); an `f16` is in the lower half.
    ///
    /// # Panics
    ///
    /// If `a` and `b` are of different lengths.
    pub fn dot<T: Copy + Into<u32>>(&self, a: &[T], b: &[T], c: u32) -> u32 {
        let mut outputs = [c];
        self.multiply(a.len(), a, b, &mut outputs);
        outputs[0]
    }

    /// Adds the product of A and B to the accumulators, all given by their bits.
    ///
    /// A and the accumulators are in row-major order, B in column-major order. A row of A and a column of B have `k`
    /// elements.
    ///
    /// # Panics
    ///
    /// If the lengths do not match.
    pub fn multiply<T: Copy + Into<u32>>(&self, k: usize, a: &[T], b: &[T], c: &mut [u32]) {
        let rows = self.operands(self.a, k, a);
        let columns = self.operands(self.b, k, b);
        self.multiply_operands(&rows, &columns, c);
    }

    /// Unpacks rows or columns of `k` operands in `format`, for [`multiply_operands`](Self::multiply_operands).
    pub fn operands<T: Copy + Into<u32>>(&self, format: Format, k: usize, bits: &[T]) -> Operands {
        Operands::new(format, k, self.step, bits)
    }

    /// Like [`multiply`](Self::multiply), with unpacked operands.
    ///
    /// # Panics
    ///
    /// If the lengths do not match.
    pub fn multiply_operands(&self, rows: &Operands, columns: &Operands, c: &mut [u32]) {
        assert_eq!(
            c.len(),
            rows.lines().len() * columns.lines().len(),
            "an accumulator for each row of A and column of B"
        );
        match self.step.div_ceil(LANES) {
            1 => self.multiply_steps::<1>(rows, columns, c),
            2 => self.multiply_steps::<2>(rows, columns, c),
            _ => self.multiply_steps::<4>(rows, columns, c),
        }
    }

    /// Adds the product of one row and one column to the accumulator `c`.
    ///
    /// # Panics
    ///
    /// If the row or the column does not exist.
    pub fn dot_operands(
        &self,
        (rows, row): (&Operands, usize),
        (columns, column): (&Operands, usize),
        c: u32,
    ) -> u32 {
        let (row, column) = (rows.line(row), columns.line(column));
        match self.step.div_ceil(LANES) {
            1 => self.dot_steps::<1>(row, column, c),
            2 => self.dot_steps::<2>(row, column, c),
            _ => self.dot_steps::<4>(row, column, c),
        }
    }

    /// [`multiply_operands`](Self::multiply_operands) in steps of `VECTORS` vectors.
    fn multiply_steps<const VECTORS: usize>(
        &self,
        rows: &Operands,
        columns: &Operands,
        c: &mut [u32],
    ) {
        let width = columns.lines().len();
        for (row, outputs) in rows.lines().zip(c.chunks_exact_mut(width)) {
            for (column, output) in columns.lines().zip(outputs) {
                *output = self.dot_steps::<VECTORS>(row, column, *output);
            }
        }
    }

    #[inline]
    fn dot_steps<const VECTORS: usize>(&self, row: &[Vector], column: &[Vector], c: u32) -> u32 {
        let (row, _) = row.as_chunks::<VECTORS>();
        let (column, _) = column.as_chunks::<VECTORS>();
        let steps = row.iter().zip(column);
        steps.fold(c, |sum, (a, b)| self.fused(a, b, sum))
    }

    /// One step: all products and the accumulator in one sum.
    #[inline]
    fn fused<const VECTORS: usize>(
        &self,
        a: &[Vector; VECTORS],
        b: &[Vector; VECTORS],
        c: u32,
    ) -> u32 {
        let accumulator = self.accumulator.decode(c);
        let mut highest = [accumulator.exponent.max(self.lowest_alignment as i16); LANES];
        for (a, b) in a.iter().zip(b) {
            for (highest, exponent) in highest.iter_mut().zip(a.exponents_with(b)) {
                *highest = exponent.max(*highest);
            }
        }
        let highest = highest.into_iter().fold(i16::MIN, i16::max);
        if highest >= Operand::FIRST_SPECIAL {
            return self.special(a, b, accumulator);
        }
        let unit = self.term_bits as i16 - highest;
        let mut sums = [0_i32; LANES];
        for (a, b) in a.iter().zip(b) {
            let products = a.significands_with(b).into_iter().zip(a.exponents_with(b));
            for (sum, (significand, exponent)) in sums.iter_mut().zip(products) {
                *sum = cut(significand, exponent.wrapping_add(unit)).wrapping_add(*sum);
            }
        }
        let products: i64 = sums.into_iter().map(i64::from).sum();
        let accumulator = cut(accumulator.significand, accumulator.exponent + unit);
        let sum = Sum {
            significand: products + i64::from(accumulator),
            exponent: -i32::from(unit),
        };
        sum.round(self.accumulator, self.result_bits, self.rounding)
    }

    /// A step with an infinity or a NaN among its terms.
    #[cold]
    fn special(&self, a: &[Vector], b: &[Vector], accumulator: Operand) -> u32 {
        let products = a.iter().zip(b).flat_map(|(a, b)| a.significands_with(b));
        let sum = products.fold(accumulator.significand, |sum, product| sum + product);
        if sum.is_nan() {
            return self.nan;
        }
        let sign_bit = self.accumulator.exponent_bits + self.accumulator.fraction_bits;
        self.accumulator.infinity() | u32::from(sum < 0.0) << sign_bit
    }
}

/// Larger in magnitude than any term; the sum of four fits `i32`.
const MOST: f32 = (1 << 28) as f32;

/// `significand * 2^exponent` without its fraction. A product's significand is below 4 and the exponent is at most
/// [`FloatUnit::term_bits`], so the result and the sum of four fit `i32`. For a unit or a format that no chip has,
/// the result is unspecified.
#[inline]
fn cut(significand: f32, exponent: i16) -> i32 {
    // A power of two, made from its exponent field; one that is too small for a field becomes 0,
    // which makes no difference.
    let field = exponent.wrapping_add(f32::MAX_EXP as i16 - 1).max(0);
    let power = f32::from_bits(u32::from(field.cast_unsigned()) << (f32::MANTISSA_DIGITS - 1));
    let term = significand * power;
    // Two instructions per vector; a saturating conversion takes six.
    let term = if term > -MOST { term } else { -MOST };
    let term = if term < MOST { term } else { MOST };
    // SAFETY: the term is between -2^28 and 2^28, so it is finite and fits `i32` after truncation.
    unsafe { term.to_int_unchecked() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::wgmma;

    /// A unit with arbitrary fields computes useless results, but does nothing worse.
    #[test]
    fn a_unit_that_no_chip_has_computes_some_number() {
        let wide = FloatUnit {
            term_bits: 100,
            ..wgmma::F16
        };
        let one = 0x3c00_u16;
        let sum = wide.dot(&[one; 16], &[one; 16], 0);
        assert!(f32::from_bits(sum) > 0.0, "{sum:#x}");
        let minus = one | 1 << 15;
        let sum = wide.dot(&[minus; 16], &[one; 16], 0);
        assert!(f32::from_bits(sum) < 0.0, "{sum:#x}");
        assert_eq!(cut(f32::NAN, 0), -cut(2.0, 100));
        assert_eq!(cut(3.5, 24), 7 << 23);
    }
}

//! Rows and columns of a product, unpacked once for all outputs.

use super::format::{Format, Operand};

/// The rows of A, or the columns of B.
#[derive(Clone, Debug)]
pub struct Operands {
    vectors: Vec<Vector>,
    vectors_per_line: usize,
}

/// Operands of one fused step, padded with zeros. Significands and exponents are in separate
/// arrays, so that the compiler uses vector instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vector {
    significands: [f32; LANES],
    exponents: [i16; LANES],
}

/// The number of operands in a vector: 8 exponents of 16 bits take 16 bytes.
pub(super) const LANES: usize = 8;

impl Operands {
    /// Unpacks rows or columns of `k` operands, given by their bits. `step` products are added at once.
    pub(super) fn new<T: Copy + Into<u32>>(
        format: Format,
        k: usize,
        step: usize,
        bits: &[T],
    ) -> Self {
        let mut vectors = Vec::with_capacity(bits.len().div_ceil(LANES));
        for line in bits.chunks_exact(k) {
            for part in line.chunks(step) {
                vectors.extend(part.chunks(LANES).map(|part| Vector::new(format, part)));
                vectors.resize(
                    vectors.len().next_multiple_of(step.div_ceil(LANES)),
                    Vector::ZERO,
                );
            }
        }
        let vectors_per_line = vectors.len() / (bits.len() / k);
        Self {
            vectors,
            vectors_per_line,
        }
    }

    /// Line number `index`.
    #[inline]
    pub(super) fn line(&self, index: usize) -> &[Vector] {
        &self.vectors[index * self.vectors_per_line..][..self.vectors_per_line]
    }

    pub(super) fn lines(&self) -> impl ExactSizeIterator<Item = &[Vector]> {
        self.vectors.chunks_exact(self.vectors_per_line)
    }
}

impl Vector {
    const ZERO: Self = Self {
        significands: [Operand::ZERO.significand; LANES],
        exponents: [Operand::ZERO.exponent; LANES],
    };

    fn new<T: Copy + Into<u32>>(format: Format, bits: &[T]) -> Self {
        let mut vector = Self::ZERO;
        for (lane, bits) in bits.iter().enumerate() {
            let operand = format.decode((*bits).into());
            vector.significands[lane] = operand.significand;
            vector.exponents[lane] = operand.exponent;
        }
        vector
    }

    /// The significands of the products.
    #[inline]
    pub fn significands_with(&self, other: &Self) -> [f32; LANES] {
        std::array::from_fn(|lane| self.significands[lane] * other.significands[lane])
    }

    /// The exponents of the products. They are far from the ends of the range. Wrapping additions
    /// become vector instructions even in a build with overflow checks.
    #[inline]
    pub fn exponents_with(&self, other: &Self) -> [i16; LANES] {
        std::array::from_fn(|lane| self.exponents[lane].wrapping_add(other.exponents[lane]))
    }
}

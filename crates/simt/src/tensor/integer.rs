//! Products of 8-bit integers.

/// Handling of a sum outside the range of `i32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// It wraps around.
    Wrap,
    /// It becomes the nearest number in the range (`.satfinite`).
    Saturate,
}

/// A tensor-core instruction of 8-bit integers with `i32` accumulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerUnit {
    /// Whether A's elements are signed.
    pub a_signed: bool,
    /// Whether B's elements are signed.
    pub b_signed: bool,
    /// Handling of a sum outside the range.
    pub overflow: Overflow,
}

impl IntegerUnit {
    /// Adds the product of A and B to the accumulators; 8-bit integers are given by their bits.
    ///
    /// A and the accumulators are in row-major order, B in column-major order. A row of A and a column of B have `k`
    /// elements.
    ///
    /// # Panics
    ///
    /// If the lengths do not match.
    pub fn multiply(&self, k: usize, a: &[u8], b: &[u8], c: &mut [i32]) {
        super::each_output(k, a, b, c, |a, b, c| self.dot(a, b, c));
    }

    /// `a[0] * b[0] + a[1] * b[1] + .. + c`, of operands given by their bits.
    ///
    /// # Panics
    ///
    /// If `a` and `b` are of different lengths.
    pub fn dot(&self, a: &[u8], b: &[u8], c: i32) -> i32 {
        assert_eq!(a.len(), b.len(), "the rows of A and columns of B differ");
        let products = a.iter().zip(b);
        let products: i64 = products
            .map(|(a, b)| extend(*a, self.a_signed) * extend(*b, self.b_signed))
            .sum();
        let sum = products + i64::from(c);
        match self.overflow {
            Overflow::Wrap => sum as i32,
            Overflow::Saturate => sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32,
        }
    }
}

fn extend(bits: u8, signed: bool) -> i64 {
    if signed {
        i64::from(bits.cast_signed())
    } else {
        i64::from(bits)
    }
}

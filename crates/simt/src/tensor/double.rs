//! Products of `f64`.

/// A tensor-core instruction of `f64`: a chain of fused multiply-adds, each rounded to nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoubleUnit {
    /// The bits of a result that is not a number.
    pub nan: u64,
}

impl DoubleUnit {
    /// Adds the product of A and B to the accumulators, all of them given by their bits: A and the
    /// accumulators row by row, B column by column. A row of A and a column of B have `k` elements.
    ///
    /// # Panics
    ///
    /// If the lengths do not go together.
    pub fn multiply(&self, k: usize, a: &[u64], b: &[u64], c: &mut [u64]) {
        super::each_output(k, a, b, c, |a, b, c| self.dot(a, b, c));
    }

    /// The bits of `a[0] * b[0] + a[1] * b[1] + .. + c`, added in this order.
    ///
    /// # Panics
    ///
    /// If `a` and `b` are of different lengths.
    pub fn dot(&self, a: &[u64], b: &[u64], c: u64) -> u64 {
        assert_eq!(a.len(), b.len(), "the rows of A and columns of B differ");
        let sum = a.iter().zip(b).fold(f64::from_bits(c), |sum, (a, b)| {
            f64::from_bits(*a).mul_add(f64::from_bits(*b), sum)
        });
        if sum.is_nan() {
            self.nan
        } else {
            sum.to_bits()
        }
    }
}

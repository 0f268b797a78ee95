//! Products of `f64`.

/// A tensor-core instruction of `f64`: a chain of fused multiply-adds, each rounded to nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoubleUnit {
    /// The bits of a result that is not a number.
    pub nan: u64,
}

impl DoubleUnit {
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

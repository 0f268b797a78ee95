//! Products of `f64`.

/// Tensor-core instructions of `f64`: a chain of fused multiply-adds, each rounded to nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoubleUnit;

/// The bits of a NaN result of operands without NaN.
const NAN: u64 = 0xfff8_0000_0000_0000;
/// The bit that makes a NaN quiet.
const QUIET: u64 = 1 << (f64::MANTISSA_DIGITS - 2);

impl DoubleUnit {
    /// Adds the product of A and B to the accumulators, all given by their bits.
    ///
    /// A and the accumulators are in row-major order, B in column-major order. A row of A and a column of B have `k`
    /// elements.
    ///
    /// # Panics
    ///
    /// If the lengths do not match.
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
        let pairs = a.iter().zip(b);
        pairs.fold(c, |sum, (a, b)| multiply_add(*a, *b, sum))
    }
}

/// One step. It passes on a NaN operand: B's before the accumulator's, and A's last.
fn multiply_add(a: u64, b: u64, c: u64) -> u64 {
    let sum = f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c));
    if !sum.is_nan() {
        return sum.to_bits();
    }
    let is_nan = |bits: &u64| f64::from_bits(*bits).is_nan();
    [b, c, a]
        .into_iter()
        .find(is_nan)
        .map_or(NAN, |nan| nan | QUIET)
}

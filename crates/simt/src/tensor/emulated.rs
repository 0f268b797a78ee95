//! Products of 8-bit floats on a chip that has no instruction for them.

use super::float::FloatUnit;

/// `mma.sync` of 8-bit floats on compute capability 9.0.
///
/// The assembler converts the operands to `f16` and emits two products: one of the elements 0, 1, 4, 5, 8, 9 .. along
/// k, and one of the others. An f32 addition, rounded to nearest, adds the accumulator. (Measured with ptxas 13.0.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmulatedUnit {
    /// The unit of the two products.
    pub unit: FloatUnit,
}

impl EmulatedUnit {
    /// Adds the product of A and B to the accumulators, all given by their bits.
    ///
    /// A and the accumulators are in row-major order, B in column-major order. A row of A and a column of B have `k`
    /// elements.
    ///
    /// # Panics
    ///
    /// If the lengths do not match.
    pub fn multiply<T: Copy + Into<u32>>(&self, k: usize, a: &[T], b: &[T], c: &mut [u32]) {
        let mut products = vec![0; c.len()];
        for half in [[0, 1], [2, 3]] {
            let part = |elements: &[T]| -> Vec<T> {
                let groups = elements.chunks_exact(4);
                groups
                    .flat_map(|group| half.map(|place| group[place]))
                    .collect()
            };
            self.unit.multiply(k / 2, &part(a), &part(b), &mut products);
        }
        for (sum, product) in c.iter_mut().zip(products) {
            let total = f32::from_bits(product) + f32::from_bits(*sum);
            *sum = if total.is_nan() {
                self.unit.nan
            } else {
                total.to_bits()
            };
        }
    }
}

//! Bounds of rounding errors, and references for them (Higham, "Accuracy and Stability of Numerical
//! Algorithms", second edition, chapter 3).

/// A type that rounds.
pub trait Rounding: Copy + Into<f64> {
    /// The largest relative error of one operation.
    const UNIT_ROUNDOFF: f64;
}

impl Rounding for f32 {
    const UNIT_ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;
}

impl Rounding for f64 {
    const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;
}

/// The bound of the relative error of `operations` roundings in T, one after another: n u / (1 - n u)
/// for n operations and the unit roundoff u (section 3.1).
#[must_use]
pub fn gamma<T: Rounding>(operations: usize) -> f64 {
    let errors = operations as f64 * T::UNIT_ROUNDOFF;
    errors / (1.0 - errors)
}

/// A row of A B, and the same row of |A| |B|, which with [`gamma`] of the row's length bounds the
/// error of a product (section 3.5). Both are in f64; B has its rows one after another.
#[must_use]
pub fn row_of_product<T: Copy + Into<f64>>(row_of_a: &[T], b: &[T]) -> Vec<(f64, f64)> {
    let columns = b.len() / row_of_a.len();
    // Two arrays instead of one of pairs: the compiler vectorises the loop over their elements.
    let (mut values, mut magnitudes) = (vec![0.0; columns], vec![0.0; columns]);
    for (&left, row_of_b) in row_of_a.iter().zip(b.chunks_exact(columns)) {
        let left: f64 = left.into();
        let sums = values.iter_mut().zip(&mut magnitudes);
        for ((value, magnitude), &right) in sums.zip(row_of_b) {
            let product = left * right.into();
            *value += product;
            *magnitude += product.abs();
        }
    }
    values.into_iter().zip(magnitudes).collect()
}

#[cfg(test)]
mod tests {
    use super::{gamma, row_of_product};

    #[test]
    fn gamma_of_one_operation_is_a_little_more_than_the_unit_roundoff() {
        let unit = 2_f64.powi(-24);
        assert_eq!(gamma::<f32>(0), 0.0);
        assert_eq!(gamma::<f32>(1), unit / (1.0 - unit));
        assert_eq!(
            gamma::<f64>(1000),
            1000.0 * 2_f64.powi(-53) / (1.0 - 1000.0 * 2_f64.powi(-53))
        );
    }

    #[test]
    fn a_row_has_values_and_magnitudes() {
        let row = row_of_product(&[1.0_f32, -2.0], &[3.0, 4.0, 5.0, -6.0]);
        assert_eq!(row, [(-7.0, 13.0), (16.0, 16.0)]);
    }
}

//! Fused operations on the rows of matrices: softmax and its relatives, normalisation, cross entropy, quantisation.

mod cross_entropy;
mod element;
mod launch;
mod norm;
mod normalize;
mod operands;
mod quantize;
mod scores;
mod softmax;

pub use element::RowElement;
pub(crate) use launch::RowLaunch;
pub use norm::Normalization;
pub(crate) use operands::{Rows as RowMatrices, apart, check_order};
pub use quantize::{QuantizeElement, Quantized};
pub use tilewright_kernels::rows::IGNORED as IGNORED_CLASS;

use tilewright_kernels::rows::RowPlan;

/// The height of the sums of a row of `len` elements of type `T`: the h of the error bounds of row operations.
///
/// It is the largest number of additions between an element and the row's sum.
///
/// ```
/// assert_eq!(tilewright::row_height::<f32>(64), 8);
/// assert_eq!(tilewright::row_height::<f32>(32_768), 20);
/// ```
#[must_use]
pub fn row_height<T: RowElement>(len: usize) -> u32 {
    RowPlan::new(len, size_of::<T>()).height()
}

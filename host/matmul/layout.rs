//! How the operands of a product lie in memory.

use super::problem::MatrixLayout;
use crate::buffer::ALIGNMENT;
use crate::element::Element;
use crate::launch_args::address_of;
use crate::matrix::MatrixBatch;

/// How the elements of a batch lie in memory.
pub fn layout_of<T: Element>(batch: MatrixBatch<'_, T>) -> MatrixLayout {
    let view = batch.first();
    // That of no element is aligned as an empty buffer's is; all matrices are aligned like the worst.
    let distance = (batch.stride() * size_of::<T>()) as u64;
    let zeros = (address_of(view) | distance).trailing_zeros();
    MatrixLayout {
        order: view.order(),
        leading_dimension: view.leading_dimension(),
        alignment: 1 << zeros.min(ALIGNMENT.ilog2()),
    }
}

//! The layout of a product's operands in memory.

use super::problem::MatrixLayout;
use crate::buffer::ALIGNMENT;
use crate::element::Element;
use crate::launch_args::address_of;
use crate::matrix::MatrixBatch;

/// The layout of a batch in memory.
pub fn layout_of<T: Element>(batch: MatrixBatch<'_, T>) -> MatrixLayout {
    let view = batch.first();
    // Without elements, the alignment is that of an empty buffer. Otherwise all matrices count as aligned as the
    // least aligned one.
    let distance = (batch.stride() * size_of::<T>()) as u64;
    let zeros = (address_of(view) | distance).trailing_zeros();
    MatrixLayout {
        order: view.order(),
        leading_dimension: view.leading_dimension(),
        alignment: 1 << zeros.min(ALIGNMENT.ilog2()),
    }
}

//! The sizes of a batch of matrices and of their copies.

use bytemuck::{Pod, Zeroable};

/// A batch of matrices and their copies, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct CopyShape {
    /// Rows of a source.
    pub rows: usize,
    /// Columns of a source.
    pub columns: usize,
    /// From row to row of a source.
    pub leading_dimension: usize,
    /// From row to row of a copy: at least the elements of its row.
    pub pitch: usize,
    /// From source to source.
    pub source_stride: usize,
    /// From copy to copy.
    pub result_stride: usize,
    /// Matrices of the batch.
    pub matrices: usize,
}

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
    /// Elements from one row of a source to the next.
    pub leading_dimension: usize,
    /// Elements from one row of a copy to the next; at least a row's.
    pub pitch: usize,
    /// Elements from one source to the next.
    pub source_stride: usize,
    /// Elements from one copy to the next.
    pub result_stride: usize,
    /// Matrices of the batch.
    pub matrices: usize,
}

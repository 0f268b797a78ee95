//! The sizes of a product, as a kernel's parameter.

use bytemuck::{Pod, Zeroable};

/// The sizes of a batch of products of one shape, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ProductShape {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Columns of A and rows of B.
    pub k: usize,
    /// From the start of one row (column, if column-major) of A to that of the next.
    pub lda: usize,
    /// The same of B.
    pub ldb: usize,
    /// The same of C, which is row-major.
    pub ldc: usize,
    /// From each A of the batch to the next; 0 where all products share it.
    pub a_stride: usize,
    /// The same of B.
    pub b_stride: usize,
    /// The same of C, which no products share.
    pub c_stride: usize,
    /// 1 where results are square and blocks without an output on or below the diagonal compute nothing,
    /// 0 where all do.
    pub is_lower: usize,
}

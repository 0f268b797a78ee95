//! The sizes of a matrix's rows, as kernels' parameters.

use bytemuck::{Pod, Zeroable};

/// Rows of a softmax, or of one of its relatives.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct SoftmaxShape {
    /// Rows of the matrix.
    pub rows: usize,
    /// Elements of a row.
    pub len: usize,
    /// Elements from one row to the next, of the operand and of the results.
    pub x_apart: usize,
    /// See `x_apart`.
    pub y_apart: usize,
    /// Lanes that share a short row.
    pub lanes: u32,
    /// 1 if rows are moved through shared memory, because they do not consist of whole aligned vectors; otherwise 0.
    pub is_staged: u32,
    /// 1 for logarithms of the results, otherwise 0.
    pub is_logarithmic: u32,
    /// Elements of a long row that are kept in shared memory: whole vectors of all threads.
    pub kept: u32,
    /// What results are multiplied by, unless they are logarithms.
    pub scale: f32,
    /// 1 if rows are staged, and shared memory has room for what a block has of a row in registers; otherwise 0.
    pub has_room: u32,
}

/// Rows to normalise.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct NormShape {
    /// Rows of the matrix.
    pub rows: usize,
    /// Elements of a row.
    pub len: usize,
    /// Elements from one row to the next, of the operand.
    pub x_apart: usize,
    /// Elements from one row to the next, of the residual.
    pub residual_apart: usize,
    /// Elements from one row to the next, of the sums with the residual.
    pub sums_apart: usize,
    /// Elements from one row to the next, of the results.
    pub y_apart: usize,
    /// Lanes that share a short row.
    pub lanes: u32,
    /// 1 if rows are moved through shared memory, because they do not consist of whole aligned vectors; otherwise 0.
    pub is_staged: u32,
    /// 1 if the mean is subtracted, otherwise 0.
    pub is_centred: u32,
    /// Elements of a long row that are kept in shared memory: whole vectors of all threads.
    pub kept: u32,
    /// What is added to the mean of the squares.
    pub epsilon: f32,
    /// 1 if rows are staged, and shared memory has room for what a block has of a row in registers; otherwise 0.
    pub has_room: u32,
}

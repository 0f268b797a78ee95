//! The sizes of products on tensor cores: those that all products have in common, and those of a launch as
//! a kernel's parameter.

use bytemuck::{Pod, Zeroable};

/// Bytes along k of a stage.
pub const DEPTH_BYTES: usize = 128;

/// Elements of 16 bits along k of a stage.
pub const HALF_DEPTH: usize = DEPTH_BYTES / 2;

/// Rows that a warpgroup multiplies with one instruction.
pub const WARPGROUP_ROWS: usize = 64;

/// The sizes of a batch of products of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct TensorShape {
    /// Rows of A and C.
    pub m: u32,
    /// Columns of B and C.
    pub n: u32,
    /// Columns of A and rows of B.
    pub k: u32,
    /// Products of the batch.
    pub matrices: u32,
    /// Clusters' tiles of each result that are computed.
    pub tiles: u32,
    /// 1 where results are square and tiles without an output on or below the diagonal are left out, 0 where
    /// all are computed.
    pub is_lower: u32,
    /// 1 where each product has an A of its own, 0 where they share one.
    pub a_step: u32,
    /// The same of B.
    pub b_step: u32,
    /// Where C is no tensor map: elements from row to row.
    pub ldc: usize,
    /// Where C is no tensor map: elements from matrix to matrix.
    pub c_stride: usize,
    /// Of a skinny product: elements from column to column of C. Elsewhere columns are neighbours.
    pub c_columns_apart: usize,
}

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
    /// Columns of A and rows of B: all of them where K is divided.
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
    /// As `a_step`, for B.
    pub b_step: u32,
    /// Where C is no tensor map: elements from row to row.
    pub ldc: usize,
    /// Where C is no tensor map: elements from matrix to matrix.
    pub c_stride: usize,
    /// Of a skinny product: elements from column to column of C. Elsewhere columns are neighbours.
    pub c_columns_apart: usize,
    /// Where K is divided: each product of the batch multiplies so many columns of one A, whole stages of the kernel's
    /// tile, by as many rows of one B, the last product those that are left, if it is fewer. 0 where it is not.
    pub part: usize,
}

impl TensorShape {
    /// Elements along k that the stages of a product hold, with what lies past the end of K.
    #[inline(always)]
    #[must_use]
    pub const fn k_of_product(&self) -> u32 {
        if self.part == 0 {
            return self.k;
        }
        self.part as u32
    }

    /// The first element along k of product number `matrix`.
    #[inline(always)]
    #[must_use]
    pub const fn first_k(&self, matrix: u32) -> u32 {
        matrix * self.part as u32
    }
}

//! The sizes of products on tensor cores: constants, and a launch's sizes as a kernel's parameter.

use bytemuck::{Pod, Zeroable};

/// Bytes along k of a slice of a stage.
pub const DEPTH_BYTES: usize = 128;

/// 16-bit elements along k of a slice of a stage.
pub const HALF_DEPTH: usize = DEPTH_BYTES / 2;

/// Rows that a warpgroup multiplies with one instruction.
pub const WARPGROUP_ROWS: usize = 64;

/// The sizes of a batch of products, all of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct TensorShape {
    /// Rows of A and C.
    pub m: u32,
    /// Columns of B and C.
    pub n: u32,
    /// Columns of A and rows of B, over all parts of K.
    pub k: u32,
    /// Products of the batch.
    pub matrices: u32,
    /// Tiles to compute in each result: those of clusters, not of blocks.
    pub tiles: u32,
    /// 1 if only tiles with an output on or below the diagonal of square results are computed, 0 if all are.
    pub is_lower: u32,
    /// 1 if each product has its own A, 0 if all share one.
    pub a_step: u32,
    /// 1 if each product has its own B, 0 if all share one.
    pub b_step: u32,
    /// Elements from one row of C to the next. Bulk copies do not use it.
    pub ldc: usize,
    /// Elements from one matrix C to the next. Bulk copies do not use it.
    pub c_stride: usize,
    /// Elements from one column of C to the next, for skinny products. In others, columns are neighbours.
    pub c_columns_apart: usize,
    /// Columns of A that each part multiplies if K is divided, a multiple of a stage's depth; otherwise 0.
    ///
    /// The parts are the products of the batch, all of one A and one B. The last part has the remaining columns.
    pub part: usize,
}

impl TensorShape {
    /// Elements along k of one product, including those past the end of K in the last part.
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

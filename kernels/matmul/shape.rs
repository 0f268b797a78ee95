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
    /// Columns of A and rows of B: all of them where K is divided.
    pub k: usize,
    /// From the start of one row (column, if column-major) of A to that of the next.
    pub lda: usize,
    /// As `lda`, for B.
    pub ldb: usize,
    /// As `lda`, for C, which is row-major.
    pub ldc: usize,
    /// From each A of the batch to the next, or from each part of A; 0 where all products share it.
    pub a_stride: usize,
    /// As `a_stride`, for B.
    pub b_stride: usize,
    /// As `a_stride`, for C, which no products share.
    pub c_stride: usize,
    /// 1 where results are square and blocks without an output on or below the diagonal compute nothing,
    /// 0 where all do.
    pub is_lower: usize,
    /// Where K is divided: each product of the batch multiplies so many columns of one A by as many rows of one B, the
    /// last product those that are left. 0 where it is not.
    pub part: usize,
}

impl ProductShape {
    /// Columns of A and rows of B that product number `matrix` of the batch multiplies.
    #[inline(always)]
    #[must_use]
    pub const fn k_of(&self, matrix: usize) -> usize {
        if self.part == 0 {
            return self.k;
        }
        let left = self.k - matrix * self.part;
        if left < self.part { left } else { self.part }
    }
}

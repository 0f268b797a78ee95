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
    /// Columns of A and rows of B: of the whole product if K is divided.
    pub k: usize,
    /// From the start of one row (column, if column-major) of A to that of the next.
    pub lda: usize,
    /// As `lda`, for B.
    pub ldb: usize,
    /// As `lda`, for C, which is row-major.
    pub ldc: usize,
    /// From one A of the batch, or one part of A, to the next; 0 if all products share it.
    pub a_stride: usize,
    /// As `a_stride`, for B.
    pub b_stride: usize,
    /// As `a_stride`, for C, which no products share.
    pub c_stride: usize,
    /// 1 if results are square and blocks entirely above the diagonal compute nothing, otherwise 0.
    pub is_lower: usize,
    /// If K is divided, the k of a part: each product of the batch multiplies this many columns of one A by as many
    /// rows of one B, the last one the rest. Otherwise 0.
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

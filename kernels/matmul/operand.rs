//! Operands in global memory, and their tiles.

use super::element::OperandElement;
use super::shape::ProductShape;
use super::sink::StoreOutput;
use cuda_std::hint::{opaque, opaque_size};
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Where a tile starts: its first k, and its first row or column of C.
#[derive(Clone, Copy)]
pub struct TileOrigin {
    pub k: usize,
    pub output: usize,
}

/// An operand in global memory, as the row-major matrix in which it lies there.
#[derive(Clone, Copy)]
pub struct GlobalOperand<'launch, T> {
    pub matrix: Global<'launch, T>,
    pub rows: usize,
    pub columns: usize,
    /// Elements from the start of one row to that of the next.
    pub leading_dimension: usize,
    /// The elements of tiles outside the matrix: see [`OperandElement::OUTSIDE`].
    pub outside: T,
}

/// A tile of an [`GlobalOperand`], clipped to the matrix.
#[derive(Clone, Copy)]
pub struct TileBounds<T> {
    /// The index of the tile's first element.
    pub first: usize,
    /// Rows and columns of the tile that lie within the matrix.
    rows: u32,
    columns: u32,
    /// [`GlobalOperand::outside`].
    outside: T,
}

impl<'launch, T> GlobalOperand<'launch, T> {
    /// An operand with these outputs and k. A row of the matrix has one output if `k_is_contiguous`, else one k.
    #[inline(always)]
    pub fn new(
        matrix: Global<'launch, T>,
        (outputs, k): (usize, usize),
        k_is_contiguous: bool,
        leading_dimension: usize,
        outside: T,
    ) -> Self {
        let (rows, columns) = match k_is_contiguous {
            true => (outputs, k),
            false => (k, outputs),
        };
        Self {
            matrix,
            rows,
            columns,
            leading_dimension,
            outside,
        }
    }
}

impl<T: OperandElement> GlobalOperand<'_, T> {
    /// The tile of `rows` x `columns` from (`row`, `column`), which lies within the matrix.
    #[inline(always)]
    pub fn bounds(
        &self,
        (row, column): (usize, usize),
        rows: usize,
        columns: usize,
    ) -> TileBounds<T> {
        TileBounds {
            first: row * self.leading_dimension + column,
            rows: (self.rows - row).min(rows) as u32,
            columns: (self.columns - column).min(columns) as u32,
            outside: self.outside,
        }
    }

    /// Whether the address of each row is a multiple of `elements` elements.
    #[inline(always)]
    pub fn rows_start_at_multiples_of(&self, elements: usize) -> bool {
        let address = self.matrix.as_ptr().addr();
        address.is_multiple_of(elements * size_of::<T>())
            && self.leading_dimension.is_multiple_of(elements)
    }

    /// The thread's index, and the operand, for computing the addresses of copies.
    ///
    /// If `hoisted`, a constant, the compiler may compute the addresses before the loop over K. Otherwise it computes
    /// them for each tile, so that they hold no registers while the block multiplies: those of tiles at the edges, for
    /// example, which take more instructions and are rarely used.
    #[inline(always)]
    pub fn addressed(&self, hoisted: bool) -> (usize, Self) {
        let thread = thread::thread_idx_x();
        if hoisted {
            return (thread as usize, *self);
        }
        let operand = Self {
            rows: opaque_size(self.rows),
            columns: opaque_size(self.columns),
            leading_dimension: opaque_size(self.leading_dimension),
            ..*self
        };
        (opaque(thread) as usize, operand)
    }
}

impl<T: OperandElement> TileBounds<T> {
    /// Elements within the matrix from (`down`, `along`) to the end of the tile's row.
    #[inline(always)]
    fn present(&self, down: usize, along: usize) -> usize {
        let in_row = self.columns.saturating_sub(along as u32);
        (if (down as u32) < self.rows { in_row } else { 0 }) as usize
    }

    /// Starts to copy `COPY` elements, at `place` (down, along) in the tile, from index `from` of `matrix` to index
    /// `to` of `storage`. Elements outside the matrix become `outside`; with `IN_BOUNDS` there are none.
    ///
    /// # Safety
    /// 1. The storage has the destination, and the matrix has the source as far as it lies within the bounds.
    /// 2. `COPY` elements are 4, 8 or 16 bytes and divide both addresses, and that of the matrix.
    /// 3. No thread accesses the destination until the copy has been waited for and a barrier has been passed.
    /// 4. With `IN_BOUNDS` the elements lie within the bounds.
    #[inline(always)]
    pub unsafe fn copy<const STAGES: usize, const COPY: usize, const IN_BOUNDS: bool>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        (storage, to): (SharedSlice<'_, T>, usize),
        (matrix, from): (Global<'_, T>, usize),
        place: (usize, usize),
    ) {
        // SAFETY: the storage has the destination, and the matrix has the source: all of it with `IN_BOUNDS`, the
        // first `present` elements otherwise. Both addresses are aligned, and no thread accesses the destination
        // before the wait and the barrier: the caller's contract. Only this thread stores these elements.
        unsafe {
            if IN_BOUNDS {
                pipeline.copy::<T, COPY>(storage, to, matrix, from);
            } else {
                let present = self.present(place.0, place.1);
                if present == 0 && !T::OUTSIDE_IS_ZERO {
                    // A copy of no elements would write +0.
                    for v in 0..COPY {
                        storage.store(to + v, self.outside);
                    }
                } else {
                    pipeline.copy_or_zero::<T, COPY>(storage, to, matrix, from, present);
                }
            }
        }
    }
}

/// A and B with their leading dimensions, and M, N and K.
pub struct Operands<'launch, T> {
    pub a: Global<'launch, T>,
    pub b: Global<'launch, T>,
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub lda: usize,
    pub ldb: usize,
}

/// A and B of the calling block's product of a batch, which is its block number along y.
///
/// If `divides_k`, a constant, and K is divided, they are the block's parts of one A and one B.
#[inline(always)]
pub fn operands_of_block<'launch, T>(
    divides_k: bool,
    a: Global<'launch, T>,
    b: Global<'launch, T>,
    shape: &ProductShape,
) -> Operands<'launch, T> {
    let matrix = thread::block_idx_y() as usize;
    Operands {
        a: a.skip(matrix * shape.a_stride),
        b: b.skip(matrix * shape.b_stride),
        m: shape.m,
        n: shape.n,
        k: if divides_k {
            shape.k_of(matrix)
        } else {
            shape.k
        },
        lda: shape.lda,
        ldb: shape.ldb,
    }
}

/// A, B and C of the calling block's product of a batch.
///
/// # Safety
/// 1. The views meet the [requirements of product kernels](crate::matmul#requirements-of-product-kernels), and the
///    grid has a block along y for each product.
/// 2. The launch accesses the elements of C only through such a result.
#[inline(always)]
pub unsafe fn matrices_of_block<'launch, T>(
    divides_k: bool,
    a: Global<'launch, T>,
    b: Global<'launch, T>,
    c: GlobalMut<'launch, T>,
    shape: &ProductShape,
) -> (Operands<'launch, T>, StoreOutput<'launch, T>) {
    // SAFETY: the batch has a matrix C for each block along y, and the launch accesses C only through such a result:
    // the caller's contract.
    let c = unsafe { result_of_block(c, shape, thread::block_idx_y()) };
    (operands_of_block(divides_k, a, b, shape), c)
}

/// C of product number `matrix` of a batch.
///
/// # Safety
/// 1. `c` meets the [requirements of product kernels](crate::matmul#requirements-of-product-kernels), and the batch
///    has the product.
/// 2. The launch accesses the elements of C only through such a result.
#[inline(always)]
pub unsafe fn result_of_block<'launch, T>(
    c: GlobalMut<'launch, T>,
    shape: &ProductShape,
    matrix: u32,
) -> StoreOutput<'launch, T> {
    // SAFETY: no thread owns elements of C, because the launch accesses them only through such a result: the caller's
    // contract. From the matrix's first element on, `c` has its elements, with rows `ldc` apart: the caller's contract.
    unsafe { StoreOutput::new(c.skip(matrix as usize * shape.c_stride), shape.ldc) }
}

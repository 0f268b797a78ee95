//! Operands in global memory, and the tiles that blocks copy of them.

use super::element::OperandElement;
use super::shape::ProductShape;
use super::sink::StoreOutput;
use cuda_std::hint::{opaque, opaque_size};
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Where a tile starts: the first k and the first output, row or column of C.
#[derive(Clone, Copy)]
pub struct TileOrigin {
    pub k: usize,
    pub output: usize,
}

/// A matrix in global memory, row after row.
#[derive(Clone, Copy)]
pub struct Operand<'launch, T> {
    pub matrix: Global<'launch, T>,
    pub rows: usize,
    pub columns: usize,
    /// Elements from the start of one row to that of the next.
    pub leading_dimension: usize,
    /// What tiles have outside the matrix: see [`OperandElement::OUTSIDE`].
    pub outside: T,
}

/// A tile of an [`Operand`]: what a block copies at once.
#[derive(Clone, Copy)]
pub struct TileBounds<T> {
    /// The position of the tile's first element in the matrix.
    pub first: usize,
    /// Rows and columns of the tile that lie within the matrix.
    rows: u32,
    columns: u32,
    /// That of the [`Operand`].
    outside: T,
}

impl<'launch, T> Operand<'launch, T> {
    /// A matrix of so many outputs and so many k: with rows of the outputs if `k_is_contiguous`, else of k.
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

impl<T: OperandElement> Operand<'_, T> {
    /// The tile of `rows` x `columns` whose first element is (`row`, `column`), which lies within
    /// the matrix.
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

    /// Whether each row starts at a multiple of `elements` elements, in bytes of memory.
    #[inline(always)]
    pub fn rows_start_at_multiples_of(&self, elements: usize) -> bool {
        let address = self.matrix.as_ptr().addr();
        address.is_multiple_of(elements * size_of::<T>())
            && self.leading_dimension.is_multiple_of(elements)
    }

    /// The thread's index and the operand from which the addresses of copies are computed.
    ///
    /// Addresses that are `hoisted`, a constant of the caller's, may be computed before the loop over K. Others, such as those at
    /// the edges, which take more instructions and are rarely used, are computed anew for each tile,
    /// so that they hold no registers while the block multiplies.
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
    /// Elements of the tile from (`down`, `along`) to the end of the row that lie within the
    /// matrix.
    #[inline(always)]
    fn present(&self, down: usize, along: usize) -> usize {
        let in_row = self.columns.saturating_sub(along as u32);
        (if (down as u32) < self.rows { in_row } else { 0 }) as usize
    }

    /// Starts to copy `COPY` elements from `from` in `matrix`, which are at `place` (down, along) in
    /// the tile, to `to` in `storage`, with `outside` for what lies outside the matrix. With
    /// `IN_BOUNDS` nothing does.
    ///
    /// # Safety
    /// 1. The destination lies within the storage, and the source, as far as it lies within the
    ///    bounds, within the matrix.
    /// 2. `COPY` elements are 4, 8 or 16 bytes and divide both addresses.
    /// 3. No thread touches the destination until the copy has been waited for and a barrier has
    ///    been passed.
    /// 4. With `IN_BOUNDS` the elements lie within the bounds.
    #[inline(always)]
    pub unsafe fn copy<const STAGES: usize, const COPY: usize, const IN_BOUNDS: bool>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        (storage, to): (SharedSlice<'_, T>, usize),
        (matrix, from): (Global<'_, T>, usize),
        place: (usize, usize),
    ) {
        // SAFETY: of the copies, (1), (2), (3) are the caller's, the former with (4). Of the store,
        // (1) the destination lies within the storage, by (1); (2) no thread touches it, by (3).
        unsafe {
            if IN_BOUNDS {
                pipeline.copy::<T, COPY>(storage, to, matrix, from);
            } else {
                let present = self.present(place.0, place.1);
                if present == 0 && !T::OUTSIDE_IS_ZERO {
                    // Not by a copy of nothing, which writes +0 alone.
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

/// A and B of the calling block's product of a batch, which has one for each block along y, or the parts of A and B
/// that it multiplies, if `divides_k`, a constant of the caller's.
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
/// 1. `a`, `b` and `c` start with the first elements of m x k, k x n and m x n matrices and reach to the
///    last of the batch's, which has one for each block along y. Rows (columns, if column-major),
///    matrices and parts start as far apart as `shape` says.
/// 2. The launch's threads touch the elements of C through the result alone.
#[inline(always)]
pub unsafe fn matrices_of_block<'launch, T>(
    divides_k: bool,
    a: Global<'launch, T>,
    b: Global<'launch, T>,
    c: GlobalMut<'launch, T>,
    shape: &ProductShape,
) -> (Operands<'launch, T>, StoreOutput<'launch, T>) {
    // SAFETY: (1), (2) are the caller's.
    let c = unsafe { result_of_block(c, shape, thread::block_idx_y()) };
    (operands_of_block(divides_k, a, b, shape), c)
}

/// C of product number `matrix` of a batch.
///
/// # Safety
/// 1. `c` starts with the first element of an m x n matrix and reaches to the last of the batch's, which has a matrix
///    of this number. Rows and matrices start as far apart as `shape` says.
/// 2. The launch's threads touch the elements of C through such a result alone.
#[inline(always)]
pub unsafe fn result_of_block<'launch, T>(
    c: GlobalMut<'launch, T>,
    shape: &ProductShape,
    matrix: u32,
) -> StoreOutput<'launch, T> {
    // SAFETY: of `skip`, (1) no element is an own one, by (2). (1) C has the result's elements, by (1), which are touched
    // so alone, by (2).
    unsafe { StoreOutput::new(c.skip(matrix as usize * shape.c_stride), shape.ldc) }
}

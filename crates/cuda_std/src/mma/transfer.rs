//! Fragments from and to shared memory, by `ldmatrix` and `stmatrix`.

use super::element::Element;
use super::fragment::{A, B, C};
use super::matrices::{HalfOfMatrices, MatrixRegisters};
use crate::float::HalfFloat;
use crate::shared::SharedSlice;
use crate::warp;
use bytemuck::Pod;

/// Bytes in a row or column of the matrices that `ldmatrix` and `stmatrix` move.
const LINE_BYTES: usize = 16;

/// The index that the calling lane gives: `line(matrix, number)` for its line of the `count`
/// matrices.
#[inline(always)]
#[track_caller]
fn own_line(count: usize, line: impl FnOnce(usize, usize) -> usize) -> usize {
    let lane = warp::lane() as usize;
    line(lane / 8 % count, lane % 8)
}

impl<T: Element<M, K>, const M: usize, const K: usize> A<T, M, K> {
    /// Loads the matrix from shared memory. (`ldmatrix`)
    ///
    /// `index(row, column)` is an element's index in `tile`, where at least 16 bytes of a row are contiguous.
    ///
    /// # Safety
    /// 1. The elements lie within the tile and have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. If the column is a multiple of the elements in 16 bytes, so is the index.
    /// 4. All threads of the warp make the call together, converged.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load(tile: SharedSlice<'_, T>, index: impl FnOnce(usize, usize) -> usize) -> Self
    where
        T::Registers: MatrixRegisters,
    {
        let line = own_line(T::Registers::COUNT, |matrix, number| {
            let columns = LINE_BYTES / size_of::<T>();
            index(
                number + 8 * (matrix % (M / 8)),
                columns * (matrix / (M / 8)),
            )
        });
        // SAFETY: the caller's contract.
        let registers = unsafe { load::<T, T::Registers, false>(tile, line) };
        Self { registers }
    }

    /// [`load`](Self::load) for 16-bit elements with 8 elements of a column contiguous.
    /// (`ldmatrix.trans`)
    ///
    /// # Safety
    /// 1. The elements lie within the tile and have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. If the row is a multiple of 8, so is the index.
    /// 4. All threads of the warp make the call together, converged.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_transposed(
        tile: SharedSlice<'_, T>,
        index: impl FnOnce(usize, usize) -> usize,
    ) -> Self
    where
        T: HalfFloat,
        T::Registers: MatrixRegisters,
    {
        let line = own_line(T::Registers::COUNT, |matrix, number| {
            index(8 * (matrix % (M / 8)), number + 8 * (matrix / (M / 8)))
        });
        // SAFETY: the caller's contract.
        let registers = unsafe { load::<T, T::Registers, true>(tile, line) };
        Self { registers }
    }
}

impl<T: Element<K, N>, const K: usize, const N: usize> B<T, K, N> {
    /// Loads the matrix from shared memory. (`ldmatrix`)
    ///
    /// `index(row, column)` is an element's index in `tile`, where at least 16 bytes of a column are contiguous.
    ///
    /// # Safety
    /// 1. The elements lie within the tile and have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. If the row is a multiple of the elements in 16 bytes, so is the index.
    /// 4. All threads of the warp make the call together, converged.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load(tile: SharedSlice<'_, T>, index: impl FnOnce(usize, usize) -> usize) -> Self
    where
        T::Registers: MatrixRegisters,
    {
        let line = own_line(T::Registers::COUNT, |matrix, number| {
            index(LINE_BYTES / size_of::<T>() * matrix, number)
        });
        // SAFETY: the caller's contract.
        let registers = unsafe { load::<T, T::Registers, false>(tile, line) };
        Self { registers }
    }

    /// [`load`](Self::load) for 16-bit elements with the elements of a row contiguous.
    /// (`ldmatrix.trans`)
    ///
    /// # Safety
    /// 1. The elements lie within the tile and have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. If the column is 0, the index is a multiple of 8.
    /// 4. All threads of the warp make the call together, converged.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_transposed(
        tile: SharedSlice<'_, T>,
        index: impl FnOnce(usize, usize) -> usize,
    ) -> Self
    where
        T: HalfFloat,
        T::Registers: MatrixRegisters,
    {
        let line = own_line(T::Registers::COUNT, |matrix, number| {
            index(number + 8 * matrix, 0)
        });
        // SAFETY: the caller's contract.
        let registers = unsafe { load::<T, T::Registers, true>(tile, line) };
        Self { registers }
    }

    /// Loads two matrices with one instruction. The second is columns 8 to 15 of `index`.
    ///
    /// # Safety
    /// As for [`load`](Self::load).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_pair(
        tile: SharedSlice<'_, T>,
        index: impl FnOnce(usize, usize) -> usize,
    ) -> [Self; 2]
    where
        T::Registers: HalfOfMatrices,
    {
        let each = T::Registers::COUNT;
        let line = own_line(2 * each, |matrix, number| {
            let row = LINE_BYTES / size_of::<T>() * (matrix % each);
            index(row, number + 8 * (matrix / each))
        });
        // SAFETY: the caller's contract.
        let both = unsafe { load::<T, <T::Registers as HalfOfMatrices>::Pair, false>(tile, line) };
        T::Registers::halves(both).map(|registers| Self { registers })
    }

    /// Loads two matrices with one instruction. The second is columns 8 to 15 of `index`.
    ///
    /// # Safety
    /// As for [`load_transposed`](Self::load_transposed), for columns 0 and 8.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_pair_transposed(
        tile: SharedSlice<'_, T>,
        index: impl FnOnce(usize, usize) -> usize,
    ) -> [Self; 2]
    where
        T: HalfFloat,
        T::Registers: HalfOfMatrices,
    {
        let each = T::Registers::COUNT;
        let line = own_line(2 * each, |matrix, number| {
            index(number + 8 * (matrix % each), 8 * (matrix / each))
        });
        // SAFETY: the caller's contract.
        let both = unsafe { load::<T, <T::Registers as HalfOfMatrices>::Pair, true>(tile, line) };
        T::Registers::halves(both).map(|registers| Self { registers })
    }
}

impl<T: Element<M, N>, const M: usize, const N: usize> C<T, M, N> {
    /// Stores 16-bit elements to shared memory. (`stmatrix`, from compute capability 9.0)
    ///
    /// `index(row, column)` is an element's index in `tile`, where the elements of a row are
    /// contiguous.
    ///
    /// # Safety
    /// 1. The elements lie within the tile.
    /// 2. No other thread touches them, unless a barrier orders the two.
    /// 3. If the column is 0, the index is a multiple of 8.
    /// 4. All threads of the warp make the call together, converged.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store(self, tile: SharedSlice<'_, T>, index: impl FnOnce(usize, usize) -> usize)
    where
        T: HalfFloat,
        T::Registers: MatrixRegisters,
    {
        let line = own_line(T::Registers::COUNT, |matrix, number| {
            index(number + 8 * matrix, 0)
        });
        // SAFETY: the caller's contract.
        unsafe {
            self.registers
                .store::<T, false>(tile.as_mut_ptr(), tile.len(), line)
        }
    }

    /// [`store`](Self::store) with 8 elements of a column contiguous. (`stmatrix.trans`)
    ///
    /// # Safety
    /// 1. The elements lie within the tile.
    /// 2. No other thread touches them, unless a barrier orders the two.
    /// 3. If the row is a multiple of 8, so is the index.
    /// 4. All threads of the warp make the call together, converged.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_transposed(
        self,
        tile: SharedSlice<'_, T>,
        index: impl FnOnce(usize, usize) -> usize,
    ) where
        T: HalfFloat,
        T::Registers: MatrixRegisters,
    {
        let line = own_line(T::Registers::COUNT, |matrix, number| {
            index(8 * matrix, number)
        });
        // SAFETY: the caller's contract.
        unsafe {
            self.registers
                .store::<T, true>(tile.as_mut_ptr(), tile.len(), line)
        }
    }
}

/// Loads matrices; each lane gives its line's `index` in the tile.
///
/// # Safety
/// As for [`MatrixRegisters::load`].
#[inline(always)]
#[track_caller]
unsafe fn load<T: Pod, R: MatrixRegisters, const TRANSPOSED: bool>(
    tile: SharedSlice<'_, T>,
    index: usize,
) -> R {
    // SAFETY: the caller's contract.
    unsafe { R::load::<T, TRANSPOSED>(tile.as_mut_ptr(), tile.len(), index) }
}

//! Fragments from and to shared memory, by `ldmatrix` and `stmatrix`.

use super::element::Element;
use super::fragment::{A, B, C};
use super::matrices::{HalfOfMatrices, MatrixRegisters};
use crate::float::HalfFloat;
use crate::shared::SharedSlice;
use crate::warp;
use bytemuck::Pod;

/// Bytes of a line of the matrices that `ldmatrix` and `stmatrix` move.
const LINE_BYTES: usize = 16;

/// What the calling lane gives for the line that it names: `line(matrix, number)` of `count`
/// matrices.
#[inline(always)]
#[track_caller]
fn own_line(count: usize, line: impl FnOnce(usize, usize) -> usize) -> usize {
    let lane = warp::lane() as usize;
    line(lane / 8 % count, lane % 8)
}

impl<T: Element<M, K>, const M: usize, const K: usize> A<T, M, K> {
    /// Loads the matrix from shared memory, where the elements of a row are neighbours, 16 bytes of
    /// them at least: `index` gives the index in `tile` of the element in a row and a column. (`ldmatrix`)
    ///
    /// # Safety
    /// 1. The elements lie within the tile and have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. Where the column is a multiple of 16 bytes, the index is.
    /// 4. All threads of the warp make the call together: none has branched away.
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
        // SAFETY: (1) to (4) are the caller's.
        let registers = unsafe { load::<T, T::Registers, false>(tile, line) };
        Self { registers }
    }

    /// As [`load`](Self::load), where 8 elements of a column are neighbours. They have 16 bits.
    /// (`ldmatrix.trans`)
    ///
    /// # Safety
    /// 1. The elements lie within the tile and have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. Where the row is a multiple of 8, so is the index.
    /// 4. All threads of the warp make the call together: none has branched away.
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
        // SAFETY: (1) to (4) are the caller's.
        let registers = unsafe { load::<T, T::Registers, true>(tile, line) };
        Self { registers }
    }
}

impl<T: Element<K, N>, const K: usize, const N: usize> B<T, K, N> {
    /// Loads the matrix from shared memory, where the elements of a column are neighbours, 16 bytes
    /// of them at least: `index` gives the index in `tile` of the element in a row and a column. (`ldmatrix`)
    ///
    /// # Safety
    /// 1. The elements lie within the tile and have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. Where the row is a multiple of 16 bytes, the index is.
    /// 4. All threads of the warp make the call together: none has branched away.
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
        // SAFETY: (1) to (4) are the caller's.
        let registers = unsafe { load::<T, T::Registers, false>(tile, line) };
        Self { registers }
    }

    /// As [`load`](Self::load), where the elements of a row are neighbours. They have 16 bits.
    /// (`ldmatrix.trans`)
    ///
    /// # Safety
    /// 1. The elements lie within the tile and have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. Where the column is 0, the index is a multiple of 8.
    /// 4. All threads of the warp make the call together: none has branched away.
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
        // SAFETY: (1) to (4) are the caller's.
        let registers = unsafe { load::<T, T::Registers, true>(tile, line) };
        Self { registers }
    }

    /// Loads two matrices by one instruction: the second has the columns 8 to 15 of `index`.
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
        // SAFETY: (1) to (4) are the caller's.
        let both = unsafe { load::<T, <T::Registers as HalfOfMatrices>::Pair, false>(tile, line) };
        T::Registers::halves(both).map(|registers| Self { registers })
    }

    /// Loads two matrices by one instruction: the second has the columns 8 to 15 of `index`.
    ///
    /// # Safety
    /// As for [`load_transposed`](Self::load_transposed), of columns 0 and 8.
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
        // SAFETY: (1) to (4) are the caller's.
        let both = unsafe { load::<T, <T::Registers as HalfOfMatrices>::Pair, true>(tile, line) };
        T::Registers::halves(both).map(|registers| Self { registers })
    }
}

impl<T: Element<M, N>, const M: usize, const N: usize> C<T, M, N> {
    /// Stores the matrix to shared memory, where the elements of a row are neighbours: `index`
    /// gives the index in `tile` of the element in a row and a column. They have 16 bits.
    /// (`stmatrix`, from compute capability 9.0 on)
    ///
    /// # Safety
    /// 1. The elements lie within the tile.
    /// 2. No other thread touches them, unless a barrier orders the two.
    /// 3. Where the column is 0, the index is a multiple of 8.
    /// 4. All threads of the warp make the call together: none has branched away.
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
        // SAFETY: (1) to (4) are the caller's.
        unsafe {
            self.registers
                .store::<T, false>(tile.as_mut_ptr(), tile.len(), line)
        }
    }

    /// As [`store`](Self::store), where 8 elements of a column are neighbours. (`stmatrix.trans`)
    ///
    /// # Safety
    /// 1. The elements lie within the tile.
    /// 2. No other thread touches them, unless a barrier orders the two.
    /// 3. Where the row is a multiple of 8, so is the index.
    /// 4. All threads of the warp make the call together: none has branched away.
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
        // SAFETY: (1) to (4) are the caller's.
        unsafe {
            self.registers
                .store::<T, true>(tile.as_mut_ptr(), tile.len(), line)
        }
    }
}

/// Loads matrices, each lane with the line at `index` of the tile.
///
/// # Safety
/// As [`MatrixRegisters::load`].
#[inline(always)]
#[track_caller]
unsafe fn load<T: Pod, R: MatrixRegisters, const TRANSPOSED: bool>(
    tile: SharedSlice<'_, T>,
    index: usize,
) -> R {
    // SAFETY: (1) to (4) are the caller's.
    unsafe { R::load::<T, TRANSPOSED>(tile.as_mut_ptr(), tile.len(), index) }
}

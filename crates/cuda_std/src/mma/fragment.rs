//! The fragments that a lane holds of the matrices of a product.

use super::element::{Element, Registers, per_register};
use super::matrices::{MatrixRegisters, Multiply, Pair};
use crate::float::HalfFloat;
use crate::shared::SharedSlice;
use crate::warp;
use bytemuck::Pod;

/// Lanes of the warps that tensor cores serve.
const LANES: usize = 32;

/// Bytes of a line of the matrices that `ldmatrix` and `stmatrix` move.
const LINE_BYTES: usize = 16;

macro_rules! fragments {
    ($($(#[$documentation:meta])* $name:ident<$rows:ident, $columns:ident>;)*) => {$(
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<T: Element<$rows, $columns>, const $rows: usize, const $columns: usize> {
            pub(crate) registers: T::Registers,
        }

        impl<T: Element<$rows, $columns>, const $rows: usize, const $columns: usize>
            $name<T, $rows, $columns>
        {
            /// Elements that each lane holds.
            pub const LEN: usize = $rows * $columns / LANES;

            /// Elements that a register holds: neighbours along a line of 4 lanes.
            const PER_REGISTER: usize = per_register::<T, T::Registers>();

            /// The calling lane's element number `index`, below [`Self::LEN`].
            #[inline(always)]
            #[must_use]
            pub fn get(&self, index: usize) -> T {
                let bits = self.registers.bits(index / Self::PER_REGISTER);
                T::from_lane_bits(bits >> Self::shift(index))
            }

            /// The fragment whose elements are `element(row, column)`.
            #[inline(always)]
            #[track_caller]
            #[must_use]
            pub fn from_fn(element: impl FnMut(usize, usize) -> T) -> Self {
                Self::of_lane(warp::lane() as usize, element)
            }

            /// [`Self::from_fn`] for a lane by its number.
            #[inline(always)]
            #[track_caller]
            pub(crate) fn of_lane(lane: usize, mut element: impl FnMut(usize, usize) -> T) -> Self {
                let mut fragment = Self::zero();
                for index in 0..Self::LEN {
                    let (row, column) = Self::place_in(lane, index);
                    fragment.set(index, element(row, column));
                }
                fragment
            }

            /// Zeros.
            #[inline(always)]
            #[must_use]
            pub fn zero() -> Self {
                Self { registers: T::Registers::zeroed() }
            }

            /// The row and the column of the calling lane's element number `index`, which are those
            /// of [`Self::place_in`].
            #[inline(always)]
            #[track_caller]
            #[must_use]
            pub fn place(index: usize) -> (usize, usize) {
                Self::place_in(warp::lane() as usize, index)
            }

            /// Replaces element number `index`, whose bits are zeros.
            #[inline(always)]
            fn set(&mut self, index: usize, element: T) {
                let register = index / Self::PER_REGISTER;
                let others = self.registers.bits(register);
                let bits = element.to_lane_bits() << Self::shift(index);
                self.registers.set_bits(register, others | bits);
            }

            /// The place of an element in its register, in bits.
            #[inline(always)]
            const fn shift(index: usize) -> usize {
                index % Self::PER_REGISTER * size_of::<T>() * 8
            }
        }
    )*};
}
fragments! {
    /// A lane's part of the left factor, of `M` rows and `K` columns.
    A<M, K>;
    /// A lane's part of the right factor, of `K` rows and `N` columns.
    B<K, N>;
    /// A lane's part of the accumulators, of `M` rows and `N` columns.
    C<M, N>;
}

/// What the calling lane gives for the line that it names: `line(matrix, number)` of `count`
/// matrices.
#[inline(always)]
#[track_caller]
fn own_line(count: usize, line: impl FnOnce(usize, usize) -> usize) -> usize {
    let lane = warp::lane() as usize;
    line(lane / 8 % count, lane % 8)
}

impl<T: Element<M, K>, const M: usize, const K: usize> A<T, M, K> {
    /// The row and the column of lane `lane`'s element number `index`.
    ///
    /// A register holds P elements, as many as fit into 4 bytes; 1 in `f64`. Register r has columns
    /// P (lane % 4) and following of row lane / 4: even ones in the upper half of 16 rows, odd
    /// ones 8 rows below, and each pair of registers 4 P columns to the right of the one before. A
    /// matrix of 8 rows has the upper half alone.
    #[inline(always)]
    #[must_use]
    pub const fn place_in(lane: usize, index: usize) -> (usize, usize) {
        let (register, within) = (index / Self::PER_REGISTER, index % Self::PER_REGISTER);
        let (half, block) = (register % (M / 8), register / (M / 8));
        let column = (lane % 4 + 4 * block) * Self::PER_REGISTER + within;
        (lane / 4 + 8 * half, column)
    }

    /// Loads the matrix from shared memory, where the elements of a row are neighbours, 16 bytes of
    /// them at least: `index` gives the index in `tile` of the element in a row and a column. (`ldmatrix`)
    ///
    /// # Safety
    /// 1. The elements lie within the tile and have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. Where the column is a multiple of 16 bytes, the index is.
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
        // SAFETY: (1) to (3) are the caller's.
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
        // SAFETY: (1) to (3) are the caller's.
        let registers = unsafe { load::<T, T::Registers, true>(tile, line) };
        Self { registers }
    }
}

impl<T: Element<K, N>, const K: usize, const N: usize> B<T, K, N> {
    /// The row and the column of lane `lane`'s element number `index`.
    ///
    /// A register holds P elements, as many as fit into 4 bytes; 1 in `f64`. Register r has rows
    /// P (lane % 4 + 4 r) and following of column lane / 4.
    #[inline(always)]
    #[must_use]
    pub const fn place_in(lane: usize, index: usize) -> (usize, usize) {
        let (register, within) = (index / Self::PER_REGISTER, index % Self::PER_REGISTER);
        let row = (lane % 4 + 4 * register) * Self::PER_REGISTER + within;
        (row, lane / 4)
    }

    /// Loads the matrix from shared memory, where the elements of a column are neighbours, 16 bytes
    /// of them at least: `index` gives the index in `tile` of the element in a row and a column. (`ldmatrix`)
    ///
    /// # Safety
    /// 1. The elements lie within the tile and have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. Where the row is a multiple of 16 bytes, the index is.
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
        // SAFETY: (1) to (3) are the caller's.
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
        // SAFETY: (1) to (3) are the caller's.
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
    pub unsafe fn load_pair<Both: Pair<T::Registers>>(
        tile: SharedSlice<'_, T>,
        index: impl FnOnce(usize, usize) -> usize,
    ) -> [Self; 2] {
        let each = Both::COUNT / 2;
        let line = own_line(Both::COUNT, |matrix, number| {
            let row = LINE_BYTES / size_of::<T>() * (matrix % each);
            index(row, number + 8 * (matrix / each))
        });
        // SAFETY: (1) to (3) are the caller's.
        let both = unsafe { load::<T, Both, false>(tile, line) };
        both.halves().map(|registers| Self { registers })
    }

    /// Loads two matrices by one instruction: the second has the columns 8 to 15 of `index`.
    ///
    /// # Safety
    /// As for [`load_transposed`](Self::load_transposed), of columns 0 and 8.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_pair_transposed<Both: Pair<T::Registers>>(
        tile: SharedSlice<'_, T>,
        index: impl FnOnce(usize, usize) -> usize,
    ) -> [Self; 2]
    where
        T: HalfFloat,
    {
        let each = Both::COUNT / 2;
        let line = own_line(Both::COUNT, |matrix, number| {
            index(number + 8 * (matrix % each), 8 * (matrix / each))
        });
        // SAFETY: (1) to (3) are the caller's.
        let both = unsafe { load::<T, Both, true>(tile, line) };
        both.halves().map(|registers| Self { registers })
    }
}

impl<T: Element<M, N>, const M: usize, const N: usize> C<T, M, N> {
    /// The row and the column of lane `lane`'s element number `index`: columns 2 (lane % 4) and the
    /// next of row lane / 4, then those 8 rows below.
    #[inline(always)]
    #[must_use]
    pub const fn place_in(lane: usize, index: usize) -> (usize, usize) {
        (lane / 4 + 8 * (index / 2), 2 * (lane % 4) + index % 2)
    }

    /// The accumulators with the product of `a` and `b` added to them. (`mma.sync`)
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn add_product<L, R, const K: usize>(self, a: A<L, M, K>, b: B<R, K, N>) -> Self
    where
        L: Multiply<R, T, M, N, K>,
        R: Element<K, N>,
    {
        Self {
            registers: L::multiply(a.registers, b.registers, self.registers),
        }
    }

    /// Stores the matrix to shared memory, where the elements of a row are neighbours: `index`
    /// gives the index in `tile` of the element in a row and a column. They have 16 bits.
    /// (`stmatrix`, from compute capability 9.0 on)
    ///
    /// # Safety
    /// 1. The elements lie within the tile.
    /// 2. No other thread touches them, unless a barrier orders the two.
    /// 3. Where the column is 0, the index is a multiple of 8.
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
        // SAFETY: (1) to (3) are the caller's.
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
        // SAFETY: (1) to (3) are the caller's.
        unsafe {
            self.registers
                .store::<T, true>(tile.as_mut_ptr(), tile.len(), line)
        }
    }
}

impl<const M: usize, const N: usize> C<f32, M, N>
where
    f32: Element<M, N>,
{
    /// The same accumulators, each rounded to the nearest number of 16 bits, ties to even.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn narrow<T: HalfFloat + Element<M, N>>(&self) -> C<T, M, N> {
        let mut narrow = C::<T, M, N>::zero();
        for index in 0..Self::LEN {
            narrow.set(index, T::narrow(self.get(index)));
        }
        narrow
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
    // SAFETY: (1) to (3) are the caller's.
    unsafe { R::load::<T, TRANSPOSED>(tile.as_mut_ptr(), tile.len(), index) }
}

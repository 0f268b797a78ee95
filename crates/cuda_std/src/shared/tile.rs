//! Two-dimensional tiles.

use super::memory::{Scope, SharedMemory, TileShape};
use super::views::SharedSlice;
use crate::machine;
use bytemuck::Pod;

/// A static tile of `ROWS` x `COLUMNS` elements in shared memory, 16-byte aligned.
///
/// Rows lie `PITCH` elements apart. A pitch above `COLUMNS` is padding against bank conflicts.
///
/// Rows that overlap do not compile:
///
/// ```compile_fail,E0080
/// let tile = cuda_std::shared_tile![f32; 4, 4; pitch = 3];
/// ```
#[derive(Debug)]
pub struct SharedTile<'block, T, const ROWS: usize, const COLUMNS: usize, const PITCH: usize> {
    #[doc(hidden)]
    pub memory: SharedMemory<'block, T, TileShape<ROWS, COLUMNS, PITCH>>,
    #[doc(hidden)]
    pub scope: &'block Scope,
}

impl<T, const ROWS: usize, const COLUMNS: usize, const PITCH: usize> Clone
    for SharedTile<'_, T, ROWS, COLUMNS, PITCH>
{
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const ROWS: usize, const COLUMNS: usize, const PITCH: usize> Copy
    for SharedTile<'_, T, ROWS, COLUMNS, PITCH>
{
}

impl<'block, T: Pod, const ROWS: usize, const COLUMNS: usize, const PITCH: usize>
    SharedTile<'block, T, ROWS, COLUMNS, PITCH>
{
    /// Elements in memory, padding included.
    pub const STORAGE: usize = ROWS * PITCH;

    /// The tile's elements as one array, row after row, padding included.
    #[inline(always)]
    #[must_use]
    pub const fn as_slice(self) -> SharedSlice<'block, T> {
        SharedSlice {
            memory: self.memory.of_any_shape(),
            scope: self.scope,
        }
    }

    /// The position of (`row`, `column`) in [`Self::as_slice`].
    #[inline(always)]
    #[must_use]
    pub const fn position(row: usize, column: usize) -> usize {
        row * PITCH + column
    }

    /// In the simulator, reports an access of `count` elements that leaves the tile's row, even if
    /// it stays within the storage.
    #[inline(always)]
    #[track_caller]
    fn check(row: usize, column: usize, count: usize) {
        machine::check_in_tile((row, column), count, (ROWS, COLUMNS));
    }

    /// The element at (`row`, `column`).
    ///
    /// # Safety
    /// 1. `row < ROWS`, `column < COLUMNS`, and the element has been written.
    /// 2. No other thread writes it, unless a barrier orders the two.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load(self, row: usize, column: usize) -> T {
        Self::check(row, column, 1);
        // SAFETY: the caller's contract.
        unsafe { self.as_slice().load(Self::position(row, column)) }
    }

    /// Loads `N` elements from (`row`, `column`), in one access of 4, 8 or 16 bytes.
    ///
    /// # Safety
    /// 1. `row < ROWS`, `column + N <= COLUMNS`, and the elements have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. `PITCH` and `column` are multiples of `N`.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_vector<const N: usize>(self, row: usize, column: usize) -> [T; N] {
        const {
            assert!(
                PITCH.is_multiple_of(N),
                "rows read as vectors need a PITCH that is a multiple of N"
            )
        };
        Self::check(row, column, N);
        // SAFETY: the caller's contract.
        unsafe { self.as_slice().load_vector(Self::position(row, column)) }
    }

    /// Writes the element at (`row`, `column`).
    ///
    /// # Safety
    /// 1. `row < ROWS` and `column < COLUMNS`.
    /// 2. No other thread touches it, unless a barrier orders the two.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store(self, row: usize, column: usize, value: T) {
        Self::check(row, column, 1);
        // SAFETY: the caller's contract.
        unsafe { self.as_slice().store(Self::position(row, column), value) }
    }

    /// Writes `N` elements from (`row`, `column`), in one access of 4, 8 or 16 bytes.
    ///
    /// # Safety
    /// 1. `row < ROWS` and `column + N <= COLUMNS`.
    /// 2. No other thread touches them, unless a barrier orders the two.
    /// 3. `PITCH` and `column` are multiples of `N`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_vector<const N: usize>(self, row: usize, column: usize, values: [T; N]) {
        const {
            assert!(
                PITCH.is_multiple_of(N),
                "rows written as vectors need a PITCH that is a multiple of N"
            )
        };
        Self::check(row, column, N);
        // SAFETY: the caller's contract.
        unsafe {
            self.as_slice()
                .store_vector(Self::position(row, column), values)
        }
    }
}

//! Tiles in shared memory as bulk tensor copies write them and products of a warpgroup read them.

use super::memory::bytes_of;
use crate::machine::{self, Space};
use crate::mma::matrices::MatrixRegisters as _;
use crate::warp;
use bytemuck::Pod;
use core::marker::PhantomData;

/// Bytes in a row of a panel, and the period of the swizzle.
pub(crate) const ROW_BYTES: usize = 128;

/// Bytes that the swizzle moves together.
const CHUNK_BYTES: usize = 16;

/// Rows after which the swizzle repeats.
const PERIOD: usize = 8;

/// The alignment of a tile: the bytes after which the swizzle repeats.
pub(crate) const ALIGNMENT: usize = PERIOD * ROW_BYTES;

/// A tile of `ROWS` rows of `COLUMNS` elements in shared memory, in panels of 128 bytes of each row.
///
/// A panel holds its part of each row, one row after the other. In row `r` the chunk of 16 bytes that
/// is number `c` stands in place `c ^ (r % 8)`, so that the eight chunks of a column lie in different
/// banks (the 128-byte swizzle: PTX ISA, 5.5.7, "Swizzling Modes"). The tile begins at a multiple of
/// 1024 bytes, its rows are a multiple of 8, and its columns fill whole panels; others do not compile.
///
/// A tile is a place, and computing one is safe: [`SwizzledTiles::get`], [`Self::rows`] and
/// [`Self::columns`] report places outside of theirs in the simulator, and on a GPU compare nothing. It
/// *is there* if each of them was given a place within; all that accesses a tile requires it.
///
/// ```compile_fail,E0080
/// fn tile(shared: &mut cuda_std::shared::Allotment<'_>) {
///     let _ = shared.tiles::<f32, 64, 20, 1>();
/// }
/// # let _: fn(&mut cuda_std::shared::Allotment<'_>) = tile;
/// ```
///
/// Nor do tiles whose bytes 32 bits do not count:
///
/// ```compile_fail,E0080
/// fn tile(shared: &mut cuda_std::shared::Allotment<'_>) {
///     let _ = shared.tiles::<f32, { (1 << 25) + 8 }, 32, 1>();
/// }
/// # let _: fn(&mut cuda_std::shared::Allotment<'_>) = tile;
/// ```
#[derive(Debug)]
pub struct SwizzledTile<'block, T, const ROWS: usize, const COLUMNS: usize> {
    /// A raw pointer is neither `Send` nor `Sync`: the tile stays with its thread.
    base: *mut T,
    /// Bytes from one panel to the next: those of the tile that this one is a part of.
    panel_bytes: usize,
    block: PhantomData<&'block mut [T]>,
}

impl<T, const ROWS: usize, const COLUMNS: usize> Clone for SwizzledTile<'_, T, ROWS, COLUMNS> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const ROWS: usize, const COLUMNS: usize> Copy for SwizzledTile<'_, T, ROWS, COLUMNS> {}

impl<'block, T: Pod, const ROWS: usize, const COLUMNS: usize>
    SwizzledTile<'block, T, ROWS, COLUMNS>
{
    /// Bytes of the tile.
    pub const BYTES: u32 = {
        let bytes = ROWS * COLUMNS * size_of::<T>();
        assert!(
            bytes <= u32::MAX as usize,
            "a tile has more bytes than 32 bits count"
        );
        bytes as u32
    };

    /// Columns of a panel.
    pub const PANEL_COLUMNS: usize = ROW_BYTES / size_of::<T>();

    /// Panels side by side.
    pub const PANELS: usize = COLUMNS / Self::PANEL_COLUMNS;

    /// Rejects, when compiled, shapes that have no such layout.
    const IS_WHOLE: () = assert!(
        ROWS > 0
            && COLUMNS > 0
            && ROWS.is_multiple_of(PERIOD)
            && Self::PANELS * Self::PANEL_COLUMNS == COLUMNS
            && Self::BYTES as usize == Self::PANELS * ROWS * ROW_BYTES,
        "a swizzled tile has a multiple of 8 rows, and rows of a multiple of 128 bytes"
    );

    /// The tile at `base`.
    ///
    /// # Safety
    /// 1. `base` is 1024-byte aligned, and the block's shared memory has room for the tile there.
    /// 2. The result is used with a lifetime within which the block does not end.
    #[inline(always)]
    pub(crate) const unsafe fn of_memory(base: *mut T) -> Self {
        const { Self::IS_WHOLE };
        Self {
            base,
            panel_bytes: ROWS * ROW_BYTES,
            block: PhantomData,
        }
    }

    /// The rows from `first` on, a multiple of 8: `PART` of them, a multiple of 8.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn rows<const PART: usize>(self, first: usize) -> SwizzledTile<'block, T, PART, COLUMNS> {
        const {
            assert!(
                PART > 0 && PART <= ROWS && PART.is_multiple_of(PERIOD),
                "a part of a swizzled tile has a multiple of 8 of its rows"
            )
        };
        // Saturated, it is no row: a sum that wraps would be one.
        let last = first.saturating_add(PART - 1);
        machine::check_in_tile((last, 0), COLUMNS, (ROWS, COLUMNS));
        SwizzledTile {
            base: self.base.wrapping_byte_add(first * ROW_BYTES),
            panel_bytes: self.panel_bytes,
            block: PhantomData,
        }
    }

    /// The columns from `first` on, where a panel begins: `PART` of them, whole panels.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn columns<const PART: usize>(self, first: usize) -> SwizzledTile<'block, T, ROWS, PART> {
        const {
            assert!(
                PART > 0 && PART <= COLUMNS && PART.is_multiple_of(Self::PANEL_COLUMNS),
                "a part of a swizzled tile has whole panels"
            )
        };
        machine::check_in_tile((ROWS - 1, first), PART, (ROWS, COLUMNS));
        let panel = first / Self::PANEL_COLUMNS;
        SwizzledTile {
            base: self.base.wrapping_byte_add(panel * self.panel_bytes),
            panel_bytes: self.panel_bytes,
            block: PhantomData,
        }
    }

    /// The address of the first element.
    #[inline(always)]
    #[must_use]
    pub const fn as_mut_ptr(self) -> *mut T {
        self.base
    }

    /// The address of the first element of a panel.
    #[inline(always)]
    pub(crate) fn panel(self, number: usize) -> *mut T {
        self.base.wrapping_byte_add(number * self.panel_bytes)
    }

    /// Bytes from one panel to the next.
    #[inline(always)]
    pub(crate) const fn panel_bytes(self) -> usize {
        self.panel_bytes
    }

    /// Bytes from the beginning of the first panel to the end of the last one.
    #[inline(always)]
    pub(crate) const fn extent(self) -> usize {
        (Self::PANELS - 1) * self.panel_bytes + ROWS * ROW_BYTES
    }

    /// Elements from the beginning of the first panel to the end of the last one.
    #[inline(always)]
    const fn storage(self) -> usize {
        self.extent() / size_of::<T>()
    }

    /// Elements from the tile's beginning to the one at (`row`, `column`).
    #[inline(always)]
    const fn position(self, row: usize, column: usize) -> usize {
        let panel = column / Self::PANEL_COLUMNS * self.panel_bytes;
        let byte = column % Self::PANEL_COLUMNS * size_of::<T>();
        let offset = panel + row * ROW_BYTES + (byte ^ (row % PERIOD * CHUNK_BYTES));
        offset / size_of::<T>()
    }

    /// The `N` elements from (`row`, `column`) on, in one access of 4, 8 or 16 bytes.
    ///
    /// # Safety
    /// 1. The tile is there (see [`SwizzledTile`]), `row < ROWS`, `column + N <= COLUMNS`, and the
    ///    elements have been written.
    /// 2. No other thread, copy or product writes them, unless a barrier orders the two.
    /// 3. `column` is a multiple of `N`.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_vector<const N: usize>(self, row: usize, column: usize) -> [T; N] {
        const { assert_access::<T, N>() };
        machine::check_in_tile((row, column), N, (ROWS, COLUMNS));
        let (len, index) = (self.storage(), self.position(row, column));
        // SAFETY: (1) to (3) are the caller's. A chunk of 16 bytes stays whole, and the address is a
        // multiple of the access.
        unsafe { machine::load::<T, N>(Space::Shared, self.base, len, index) }
    }

    /// Writes the `N` elements from (`row`, `column`) on, in one access of 4, 8 or 16 bytes.
    ///
    /// Before a copy or a product reads them, the thread calls [`tma::fence`](crate::tma::fence), and a
    /// barrier follows.
    ///
    /// # Safety
    /// 1. The tile is there (see [`SwizzledTile`]), `row < ROWS` and `column + N <= COLUMNS`.
    /// 2. No other thread, copy or product accesses them, unless a barrier orders the two.
    /// 3. `column` is a multiple of `N`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_vector<const N: usize>(self, row: usize, column: usize, values: [T; N]) {
        const { assert_access::<T, N>() };
        machine::check_in_tile((row, column), N, (ROWS, COLUMNS));
        let (len, index) = (self.storage(), self.position(row, column));
        // SAFETY: as in `load_vector`.
        unsafe { machine::store::<T, N>(Space::Shared, self.base, len, index, values) }
    }

    /// Writes the 16 x 16 elements of 16 bits from (`row`, `column`) on, of which each lane of a warp
    /// holds eight. (`stmatrix`, from compute capability 9.0 on)
    ///
    /// Lane `l` holds, in `pairs[0]`, columns `2 (l % 4)` and the next of row `l / 4`; in `pairs[1]`
    /// those of the row 8 further down, and in `pairs[2]` and `pairs[3]` the same 8 columns further on:
    /// as accumulators of [`wgmma`](crate::wgmma) lie, once they are narrowed.
    ///
    /// # Safety
    /// 1. The tile is there (see [`SwizzledTile`]), `row + 16 <= ROWS` and `column + 16 <= COLUMNS`.
    /// 2. No other thread, copy or product accesses them, unless a barrier orders the two.
    /// 3. `row` and `column` are multiples of 8. All lanes of a warp make the call, with the same place.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_matrices(self, row: usize, column: usize, pairs: [[T; 2]; 4]) {
        const { assert!(size_of::<T>() == 2, "matrices are stored by 16 bits") };
        machine::check_in_tile((row + 15, column), 16, (ROWS, COLUMNS));
        let lane = warp::lane() as usize;
        let (line, side) = (lane % 16, lane / 16);
        let index = self.position(row + line, column + 8 * side);
        let registers: [u32; 4] = pairs.map(bytemuck::cast);
        // SAFETY: (1), (2) are the caller's. (3) A chunk of 16 bytes stays whole.
        unsafe { registers.store::<T, false>(self.base, self.storage(), index) };
    }
}

/// Rejects, when compiled, an access that is no single instruction within a chunk.
const fn assert_access<T, const N: usize>() {
    let bytes = N * size_of::<T>();
    assert!(
        bytes == 4 || bytes == 8 || bytes == 16,
        "an access of a swizzled tile is 4, 8 or 16 bytes: choose N so that N * size_of::<T>() is one of them"
    );
}

/// `COUNT` tiles of one shape, one behind the other: the stages of a ring.
#[derive(Debug)]
pub struct SwizzledTiles<'block, T, const ROWS: usize, const COLUMNS: usize, const COUNT: usize> {
    first: SwizzledTile<'block, T, ROWS, COLUMNS>,
}

impl<T, const ROWS: usize, const COLUMNS: usize, const COUNT: usize> Clone
    for SwizzledTiles<'_, T, ROWS, COLUMNS, COUNT>
{
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const ROWS: usize, const COLUMNS: usize, const COUNT: usize> Copy
    for SwizzledTiles<'_, T, ROWS, COLUMNS, COUNT>
{
}

impl<'block, T: Pod, const ROWS: usize, const COLUMNS: usize, const COUNT: usize>
    SwizzledTiles<'block, T, ROWS, COLUMNS, COUNT>
{
    /// Bytes of all tiles.
    pub(super) const BYTES: usize =
        bytes_of::<u8>(COUNT * SwizzledTile::<T, ROWS, COLUMNS>::BYTES as usize);

    /// The tiles from `base` on.
    ///
    /// # Safety
    /// 1. `base` is 1024-byte aligned, and the block's shared memory has room for the tiles there.
    /// 2. The result is used with a lifetime within which the block does not end.
    #[inline(always)]
    pub(crate) const unsafe fn of_memory(base: *mut T) -> Self {
        Self {
            // SAFETY: (1), (2) are the caller's.
            first: unsafe { SwizzledTile::of_memory(base) },
        }
    }

    /// Tile number `stage`, below `COUNT`.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn get(self, stage: usize) -> SwizzledTile<'block, T, ROWS, COLUMNS> {
        machine::check_in_tile((stage, 0), 1, (COUNT, 1));
        let bytes = stage * SwizzledTile::<T, ROWS, COLUMNS>::BYTES as usize;
        SwizzledTile {
            base: self.first.base.wrapping_byte_add(bytes),
            ..self.first
        }
    }
}

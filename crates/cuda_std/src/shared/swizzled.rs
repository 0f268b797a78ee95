//! Swizzled tiles in shared memory, for bulk tensor copies and warpgroup products.

use super::memory::bytes_of;
use crate::machine::{self, Space};
use crate::mma::matrices::MatrixRegisters as _;
use crate::warp;
use bytemuck::Pod;
use core::marker::PhantomData;

/// Bytes in a row of a panel.
pub(crate) const ROW_BYTES: usize = 128;

/// Bytes that the swizzle moves together.
const CHUNK_BYTES: usize = 16;

/// Rows after which the swizzle repeats.
const PERIOD: usize = 8;

/// The alignment of a tile: the bytes after which the swizzle repeats.
pub(crate) const ALIGNMENT: usize = PERIOD * ROW_BYTES;

/// A swizzled tile of `ROWS` x `COLUMNS` elements in shared memory, in panels of 128 bytes of each row.
///
/// A panel holds its part of each row, row after row. In row `r`, 16-byte chunk `c` is stored at position `c ^ (r %
/// 8)`, so that the eight chunks of a column lie in different banks (the 128-byte swizzle: PTX ISA, 5.5.7, "Swizzling
/// Modes"). The tile is aligned to 1024 bytes, its rows are a multiple of 8, and its columns fill whole panels; other
/// shapes do not compile.
///
/// A tile is an address, and computing one is safe: in the simulator, [`SwizzledTiles::get`], [`Self::rows`] and
/// [`Self::columns`] report arguments out of range; on a GPU they check nothing. A tile *is in range* if all
/// arguments were; every access requires it.
///
/// ```compile_fail,E0080
/// fn tile(shared: &mut cuda_std::shared::Allotment<'_>) {
///     let _ = shared.tiles::<f32, 64, 20, 1>();
/// }
/// # let _: fn(&mut cuda_std::shared::Allotment<'_>) = tile;
/// ```
///
/// Nor do tiles of 4 GiB or more:
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
    /// Bytes from one panel to the next, in the tile that this is a part of.
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
    /// Size of the tile in bytes.
    pub const BYTES: u32 = {
        let bytes = ROWS * COLUMNS * size_of::<T>();
        assert!(bytes <= u32::MAX as usize, "a tile has at least 4 GiB");
        bytes as u32
    };

    /// Columns in a panel.
    pub const PANEL_COLUMNS: usize = ROW_BYTES / size_of::<T>();

    /// Number of panels, side by side.
    pub const PANELS: usize = COLUMNS / Self::PANEL_COLUMNS;

    /// Rejects shapes without this layout, at compile time.
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
    /// 1. `base` is 1024-byte aligned, and the tile there lies within the block's shared memory.
    /// 2. The block does not end within the result's lifetime.
    #[inline(always)]
    pub(crate) const unsafe fn of_memory(base: *mut T) -> Self {
        const { Self::IS_WHOLE };
        Self {
            base,
            panel_bytes: ROWS * ROW_BYTES,
            block: PhantomData,
        }
    }

    /// `PART` rows from row `first`, both multiples of 8.
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
        // Saturates to an invalid row; a wrapped sum could be a valid one.
        let last = first.saturating_add(PART - 1);
        machine::check_in_tile((last, 0), COLUMNS, (ROWS, COLUMNS));
        SwizzledTile {
            base: self.base.wrapping_byte_add(first * ROW_BYTES),
            panel_bytes: self.panel_bytes,
            block: PhantomData,
        }
    }

    /// `PART` columns, whole panels, from column `first`, where a panel begins.
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

    /// Bytes from the start of the first panel to the end of the last.
    #[inline(always)]
    pub(crate) const fn extent(self) -> usize {
        (Self::PANELS - 1) * self.panel_bytes + ROWS * ROW_BYTES
    }

    /// Elements from the start of the first panel to the end of the last.
    #[inline(always)]
    const fn storage(self) -> usize {
        self.extent() / size_of::<T>()
    }

    /// The index of (`row`, `column`), in elements from the start of the tile.
    #[inline(always)]
    const fn position(self, row: usize, column: usize) -> usize {
        let panel = column / Self::PANEL_COLUMNS * self.panel_bytes;
        let byte = column % Self::PANEL_COLUMNS * size_of::<T>();
        let offset = panel + row * ROW_BYTES + (byte ^ (row % PERIOD * CHUNK_BYTES));
        offset / size_of::<T>()
    }

    /// Loads `N` elements from (`row`, `column`), in one access of 4, 8 or 16 bytes.
    ///
    /// # Safety
    /// 1. The tile is in range (see [`SwizzledTile`]), `row < ROWS`, `column + N <= COLUMNS`, and
    ///    the elements have been written.
    /// 2. No other thread, copy or product writes them, unless a barrier orders the two.
    /// 3. `column` is a multiple of `N`.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_vector<const N: usize>(self, row: usize, column: usize) -> [T; N] {
        const { assert_access::<T, N>() };
        machine::check_in_tile((row, column), N, (ROWS, COLUMNS));
        let (len, index) = (self.storage(), self.position(row, column));
        // SAFETY: the caller's contract. The access lies within one 16-byte chunk, which stays whole, so the address
        // is aligned.
        unsafe { machine::load::<T, N>(Space::Shared, self.base, len, index) }
    }

    /// Writes `N` elements from (`row`, `column`), in one access of 4, 8 or 16 bytes.
    ///
    /// Before a copy or a product reads them, the thread must call [`tma::fence`](crate::tma::fence), and a barrier
    /// must follow.
    ///
    /// # Safety
    /// 1. The tile is in range (see [`SwizzledTile`]), `row < ROWS` and `column + N <= COLUMNS`.
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

    /// Writes 16 x 16 elements of 16 bits from (`row`, `column`), eight from each lane of a warp. (`stmatrix`, from
    /// compute capability 9.0)
    ///
    /// Lane `l` holds, in `pairs[0]`, columns `2 (l % 4)` and `2 (l % 4) + 1` of row `l / 4`, and in `pairs[1]` those
    /// of the row 8 below. `pairs[2]` and `pairs[3]` are 8 columns to the right. Narrowed accumulators of
    /// [`wgmma`](crate::wgmma) have this layout.
    ///
    /// # Safety
    /// 1. The tile is in range (see [`SwizzledTile`]), `row + 16 <= ROWS` and `column + 16 <= COLUMNS`.
    /// 2. No other thread, copy or product accesses them, unless a barrier orders the two.
    /// 3. `row` and `column` are multiples of 8. All lanes of a warp make the call, with the same arguments.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_matrices(self, row: usize, column: usize, pairs: [[T; 2]; 4]) {
        let lane = warp::lane() as usize;
        // SAFETY: the caller's contract.
        unsafe { self.store_lines::<false>((row, column), (lane % 16, lane / 16), pairs) };
    }

    /// As [`store_matrices`](Self::store_matrices), with the transpose of the 16 x 16 elements that the lanes hold.
    ///
    /// # Safety
    /// As for [`store_matrices`](Self::store_matrices).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_transposed_matrices(self, row: usize, column: usize, pairs: [[T; 2]; 4]) {
        let lane = warp::lane() as usize;
        let place = (lane % 8 + lane / 16 * 8, lane / 8 % 2);
        // SAFETY: the caller's contract.
        unsafe { self.store_lines::<true>((row, column), place, pairs) };
    }

    /// Writes 16 x 16 elements from `first`, a row and a column. `line` and `side` are the row and the half of it
    /// whose address the lane gives.
    ///
    /// # Safety
    /// As for [`store_matrices`](Self::store_matrices).
    #[inline(always)]
    #[track_caller]
    unsafe fn store_lines<const TRANSPOSED: bool>(
        self,
        (row, column): (usize, usize),
        (line, side): (usize, usize),
        pairs: [[T; 2]; 4],
    ) {
        const { assert!(size_of::<T>() == 2, "matrices are stored by 16 bits") };
        machine::check_in_tile((row + 15, column), 16, (ROWS, COLUMNS));
        let index = self.position(row + line, column + 8 * side);
        let registers: [u32; 4] = pairs.map(bytemuck::cast);
        // SAFETY: the caller's contract. A 16-byte chunk stays whole, so it is aligned.
        unsafe { registers.store::<T, TRANSPOSED>(self.base, self.storage(), index) };
    }
}

/// Rejects accesses that are not one instruction within a chunk, at compile time.
const fn assert_access<T, const N: usize>() {
    let bytes = N * size_of::<T>();
    assert!(
        bytes == 4 || bytes == 8 || bytes == 16,
        "an access of a swizzled tile is 4, 8 or 16 bytes: choose N so that N * size_of::<T>() is one of them"
    );
}

/// `COUNT` consecutive tiles of one shape: the stages of a ring.
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
    /// Size of all tiles in bytes.
    pub(super) const BYTES: usize =
        bytes_of::<u8>(COUNT * SwizzledTile::<T, ROWS, COLUMNS>::BYTES as usize);

    /// The tiles at `base`.
    ///
    /// # Safety
    /// 1. `base` is 1024-byte aligned, and the tiles there lie within the block's shared memory.
    /// 2. The block does not end within the result's lifetime.
    #[inline(always)]
    pub(crate) const unsafe fn of_memory(base: *mut T) -> Self {
        Self {
            // SAFETY: the caller's contract.
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

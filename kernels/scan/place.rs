//! Which elements a thread has.

use super::plan::{ROW_THREADS, ROWS, ScanPlan, ScanShape, WARPS};
use cuda_std::prelude::*;

/// The position of a thread's vectors, one in each row of vectors of its warp.
///
/// Bounds are checked with offsets in the tile, constants for buffers except for `left`: with indices of the
/// array, the compiler keeps one in registers for each element.
#[derive(Clone, Copy)]
pub struct Place {
    /// The thread's first element: in the operand, in the results, and in its row of the matrix.
    x: usize,
    y: usize,
    index: usize,
    /// Elements from one vector to the thread's next: the same three.
    x_step: usize,
    y_step: usize,
    index_step: usize,
    /// The thread's first element, counted in the tile.
    pub in_tile: usize,
    /// Elements from the thread's first to the end of the row, at most a tile's.
    left: u32,
    /// Rows of vectors that have elements, if each is a row of the matrix; otherwise all.
    rows: usize,
    /// Whether each vector is whole or has no element.
    pub has_vectors: bool,
    /// Whether all vectors have elements.
    is_whole: bool,
    /// Whether each warp has rows of its own.
    pub is_of_warp: bool,
    /// Whether each row of vectors is a row of the matrix.
    pub is_of_vectors: bool,
}

/// The calling thread's row of threads in the block, and its place in it.
#[inline(always)]
pub fn in_block() -> (usize, usize) {
    let thread = thread::thread_idx_x();
    (warp_of(thread), (thread % ROW_THREADS) as usize)
}

/// The part of a tile that a thread belongs to.
#[inline(always)]
pub fn warp_of(thread: u32) -> usize {
    (thread / ROW_THREADS) as usize
}

/// Elements from one vector of a thread to the next in the tile.
pub const fn apart<const LANES: usize>() -> usize {
    ROW_THREADS as usize * LANES
}

impl Place {
    /// The position in tile number `tile` of an array of `len` elements.
    #[cfg(feature = "entries")]
    #[inline(always)]
    pub fn of_array<const LANES: usize>(tile: usize, len: usize) -> Self {
        let of_warp = ROWS * apart::<LANES>();
        let of_tile = WARPS * of_warp;
        let (warp, lane) = in_block();
        let in_tile = warp * of_warp + lane * LANES;
        let first = tile * of_tile + in_tile;
        let is_whole = (tile + 1) * of_tile <= len;
        Self {
            x: first,
            y: first,
            index: first,
            x_step: apart::<LANES>(),
            y_step: apart::<LANES>(),
            index_step: apart::<LANES>(),
            in_tile,
            left: len.saturating_sub(first).min(of_tile) as u32,
            rows: ROWS,
            has_vectors: is_whole,
            is_whole,
            is_of_warp: false,
            is_of_vectors: false,
        }
    }

    /// The position in block `block` of the rows of `shape`: in a tile of one row, or in several rows.
    #[inline(always)]
    pub fn of_rows<const LANES: usize>(block: usize, shape: &ScanShape, plan: &ScanPlan) -> Self {
        let (warp, lane) = in_block();
        let is_of_warp = plan.rows_of_block > 1;
        let is_of_vectors = plan.rows_of_block > WARPS;
        let of_warp = plan.rows_of_block / WARPS;
        let (row, index) = if is_of_warp {
            (block * plan.rows_of_block + warp * of_warp, lane * LANES)
        } else {
            let in_tile = warp * ROWS * apart::<LANES>() + lane * LANES;
            (block / plan.tiles, block % plan.tiles * plan.tile + in_tile)
        };
        let row_exists = row < shape.rows;
        let left = if row_exists {
            shape.len.saturating_sub(index)
        } else {
            0
        };
        let (x_step, y_step, index_step) = if is_of_vectors {
            (shape.x_apart, shape.y_apart, 0)
        } else {
            (apart::<LANES>(), apart::<LANES>(), apart::<LANES>())
        };
        Self {
            x: row * shape.x_apart + index,
            y: row * shape.y_apart + index,
            index,
            x_step,
            y_step,
            index_step,
            in_tile: warp * ROWS * apart::<LANES>() + lane * LANES,
            left: left.min(plan.tile) as u32,
            rows: if is_of_vectors {
                shape.rows.saturating_sub(row).min(ROWS)
            } else {
                ROWS
            },
            has_vectors: shape.len.is_multiple_of(LANES),
            is_whole: false,
            is_of_warp,
            is_of_vectors,
        }
    }

    /// The position in tile number `tile` of a line of `len` elements that starts at element `start`.
    #[inline(always)]
    pub fn of_line<const LANES: usize>(
        tile: usize,
        (start, len): (usize, usize),
        plan: &ScanPlan,
    ) -> Self {
        let (warp, lane) = in_block();
        let in_tile = warp * ROWS * apart::<LANES>() + lane * LANES;
        let index = tile * plan.tile + in_tile;
        Self {
            x: start + index,
            y: start + index,
            index,
            x_step: apart::<LANES>(),
            y_step: apart::<LANES>(),
            index_step: apart::<LANES>(),
            in_tile,
            left: len.saturating_sub(index).min(plan.tile) as u32,
            rows: ROWS,
            has_vectors: len.is_multiple_of(LANES),
            is_whole: false,
            is_of_warp: false,
            is_of_vectors: false,
        }
    }

    /// Whether element `lane` of vector `row` exists.
    #[inline(always)]
    pub fn has(&self, row: usize, lane: usize) -> bool {
        self.is_whole || (row < self.rows && ((row * self.index_step + lane) as u32) < self.left)
    }

    /// [`is_aligned`](Self::is_aligned) for the operand, to 16 bytes.
    #[inline(always)]
    pub fn is_x_aligned(&self, address: usize, bytes: usize) -> bool {
        self.is_aligned(address, (self.x, self.x_step), (bytes, 16))
    }

    /// [`is_aligned`](Self::is_aligned) for the results, to `to` bytes.
    #[inline(always)]
    pub fn is_y_aligned(&self, address: usize, bytes: usize, to: usize) -> bool {
        self.is_aligned(address, (self.y, self.y_step), (bytes, to))
    }

    /// The first element of vector `row` in the operand.
    #[inline(always)]
    pub fn x_at(&self, row: usize) -> usize {
        self.x + row * self.x_step
    }

    /// The first element of vector `row` in the results.
    #[inline(always)]
    pub fn y_at(&self, row: usize) -> usize {
        self.y + row * self.y_step
    }

    /// Element `lane` of vector `row`, counted in its row of the matrix.
    #[inline(always)]
    pub fn index_of(&self, row: usize, lane: usize) -> usize {
        self.index + row * self.index_step + lane
    }

    /// The first element of vector `row` in the tile.
    #[inline(always)]
    pub fn staged_at<const LANES: usize>(&self, row: usize) -> usize {
        self.in_tile + row * apart::<LANES>()
    }

    /// Whether the thread's vectors start at multiples of `to` bytes in an array of elements of `bytes` bytes that
    /// starts at `address`: its first is at `first`, the others are `step` elements apart.
    #[inline(always)]
    fn is_aligned(
        &self,
        address: usize,
        (first, step): (usize, usize),
        (bytes, to): (usize, usize),
    ) -> bool {
        let step = if self.is_of_vectors { step * bytes } else { 0 };
        ((address + first * bytes) | step).is_multiple_of(to)
    }
}

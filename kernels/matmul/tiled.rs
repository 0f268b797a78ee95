//! The tiled product: one output for each thread, operands through shared memory.
//!
//! ```text
//! for each tile of K:
//!     the block copies a TILE x TILE tile of A and of B to shared memory
//!     each thread adds TILE products to its output
//! ```
//!
//! Each element of A and B is read from global memory once for TILE outputs instead of once for
//! each (seed 000, figure 6.10). Elements outside a matrix are read as zero, so every size works.
//!
//! A warp is one row of the tile: its reads of A's tile are one word (a broadcast), its reads of
//! B's tile and its accesses of global memory 32 neighbouring words.
//!
//! An operand that is column-major has its corner turned (seed 000, figure 6.4): the roles of a
//! thread's row and column are swapped while the tile is copied, so that a warp still reads 32
//! neighbouring words, which then go down a column of the tile. Its rows are padded, so that these
//! words lie in different banks.

use super::{Product, Tiling, block_position};
use cuda_std::prelude::*;

/// Rows and columns of a tile, and of the outputs that a block computes.
const TILE: usize = 32;

/// The pitch of A's tile where its corner is turned: rows that start at multiples of 16 bytes, so
/// that ptxas still reads four neighbours of a row at once.
const fn turned_a_pitch(element_bytes: usize) -> usize {
    TILE + 16 / element_bytes
}

/// The pitch of B's tile where its corner is turned: a column's words lie in different banks.
const TURNED_B_PITCH: usize = TILE + 1;

/// How the tiled kernels are launched.
pub const TILED: Tiling = Tiling {
    block_rows: TILE,
    block_columns: TILE,
    threads: (TILE * TILE) as u32,
};

type Tile<T, const PITCH: usize> = SharedTile<T, TILE, TILE, PITCH>;

/// A matrix of `rows` x `columns` in global memory, column after column if `TRANSPOSED`.
struct Operand<T, const TRANSPOSED: bool> {
    matrix: Global<T>,
    rows: usize,
    columns: usize,
}

impl<T: Float, const TRANSPOSED: bool> Operand<T, TRANSPOSED> {
    /// Element (`row`, `column`), or zero outside the matrix.
    #[inline(always)]
    #[track_caller]
    fn element_or_zero(&self, row: usize, column: usize) -> T {
        if row < self.rows && column < self.columns {
            let position = if TRANSPOSED {
                column * self.rows + row
            } else {
                row * self.columns + column
            };
            // No closure: it would be the place that the simulator reports.
            match self.matrix.get(position) {
                Some(element) => element,
                None => T::ZERO,
            }
        } else {
            T::ZERO
        }
    }

    /// Copies the calling thread's element of the tile whose corner is (`row`, `column`).
    ///
    /// # Safety
    /// 1. `thread` is the thread's (row, column) in the block, and both are below `TILE`.
    /// 2. A barrier orders the write with other threads' accesses.
    #[inline(always)]
    unsafe fn copy_tile<const PITCH: usize>(
        &self,
        tile: Tile<T, PITCH>,
        (row, column): (usize, usize),
        thread: (usize, usize),
    ) {
        let (down, along) = if TRANSPOSED {
            (thread.1, thread.0)
        } else {
            thread
        };
        let element = self.element_or_zero(row + down, column + along);
        // SAFETY: (1) is (1). (2) Each thread writes its own element; then (2).
        unsafe { tile.store(down, along, element) };
    }
}

/// # Safety
/// 1. The launch has [`TILED`]'s block along x and its blocks for m x n.
/// 2. The tiles are the block's own.
#[inline(always)]
unsafe fn multiply<
    T: Float,
    const A_T: bool,
    const B_T: bool,
    const A_PITCH: usize,
    const B_PITCH: usize,
>(
    product: Product<T>,
    a_tile: Tile<T, A_PITCH>,
    b_tile: Tile<T, B_PITCH>,
) {
    let Product { a, b, c, m, n, k } = product;
    let a: Operand<T, A_T> = Operand {
        matrix: a,
        rows: m,
        columns: k,
    };
    let b: Operand<T, B_T> = Operand {
        matrix: b,
        rows: k,
        columns: n,
    };
    let (block_row, block_column) = block_position(m.div_ceil(TILE), n.div_ceil(TILE));
    let thread = thread::thread_idx_x() as usize;
    let (tile_row, tile_column) = (thread / TILE, thread % TILE);
    let corner = (block_row * TILE, block_column * TILE);

    let mut sum = T::ZERO;
    for start in (0..k).step_by(TILE) {
        // SAFETY: (1) `tile_row`, `tile_column` < TILE. (2) The barriers order the writes with
        // the reads of this round and the last.
        unsafe {
            a.copy_tile(a_tile, (corner.0, start), (tile_row, tile_column));
            b.copy_tile(b_tile, (start, corner.1), (tile_row, tile_column));
        }
        thread::sync_threads();
        for i in 0..TILE {
            // SAFETY: (1) as above, and i < TILE. (2) Written before the barrier.
            let (left, right) = unsafe { (a_tile.load(tile_row, i), b_tile.load(i, tile_column)) };
            sum = left.mul_add(right, sum);
        }
        thread::sync_threads();
    }
    let (row, column) = (corner.0 + tile_row, corner.1 + tile_column);
    if row < m && column < n {
        // SAFETY: (1) the output lies within C, which has m * n elements. (2) It is this
        // thread's alone: blocks and threads map one to one to outputs.
        unsafe { c.store(row * n + column, sum) };
    }
}

macro_rules! tiled_kernels {
    ($($element:ty: $row_major:ident, $a_t:ident, $b_t:ident, $a_t_b_t:ident;)*) => {$(
        tiled_kernels!(@kernel $row_major: $element, false, TILE, false, TILE,
            "A and B are row-major.");
        tiled_kernels!(@kernel $a_t: $element, true, turned_a_pitch(size_of::<$element>()), false, TILE,
            "A is column-major, B is row-major.");
        tiled_kernels!(@kernel $b_t: $element, false, TILE, true, TURNED_B_PITCH,
            "A is row-major, B is column-major.");
        tiled_kernels!(@kernel $a_t_b_t: $element, true, turned_a_pitch(size_of::<$element>()), true, TURNED_B_PITCH,
            "A and B are column-major.");
    )*};
    (@kernel $name:ident: $element:ty, $a_is_turned:literal, $a_pitch:expr,
        $b_is_turned:literal, $b_pitch:expr, $layout:literal) => {
        #[doc = concat!("C = A B in ", stringify!($element), ", one output for each thread. ", $layout)]
        ///
        /// # Safety
        /// 1. The launch has [`TILED`]'s block along x and its blocks for `m` x `n`.
        /// 2. `a`, `b`, `c` have m * k, k * n and m * n elements.
        #[kernel(max_threads = 1024)]
        pub unsafe fn $name(
            a: Global<$element>,
            b: Global<$element>,
            c: GlobalMut<$element>,
            m: usize,
            n: usize,
            k: usize,
        ) {
            let a_tile = shared_tile![$element; TILE, TILE; pitch = $a_pitch];
            let b_tile = shared_tile![$element; TILE, TILE; pitch = $b_pitch];
            // SAFETY: (1) is the launch's. (2) Declared here.
            unsafe {
                multiply::<$element, $a_is_turned, $b_is_turned, { $a_pitch }, { $b_pitch }>(
                    Product { a, b, c, m, n, k }, a_tile, b_tile)
            }
        }
    };
}
tiled_kernels! {
    f32: matmul_tiled_f32, matmul_tiled_f32_a_t, matmul_tiled_f32_b_t, matmul_tiled_f32_a_t_b_t;
    f64: matmul_tiled_f64, matmul_tiled_f64_a_t, matmul_tiled_f64_b_t, matmul_tiled_f64_a_t_b_t;
}

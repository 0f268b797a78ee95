//! The tiled product: one output for each thread, operands through shared memory.
//!
//! ```text
//! for each tile of K:
//!     the block copies a TILE x TILE tile of A and of B to shared memory
//!     each thread adds TILE products to its output
//! ```
//!
//! Each element of A and B is read from global memory once for TILE outputs instead of once for
//! each (seed 000, figure 6.10). Elements outside a matrix are read as zero, so every size works:
//! +0 outside A and -0 outside B, because their product, -0, changes no sum, not even one of -0.
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

type Tile<'block, T, const PITCH: usize> = SharedTile<'block, T, TILE, TILE, PITCH>;

/// Element (`row`, `column`) of a matrix of `rows` x `columns` that lies row after row; `outside`
/// elsewhere.
#[inline(always)]
fn element_or<T: Float>(
    outside: T,
    matrix: Global<T>,
    (rows, columns): (usize, usize),
    row: usize,
    column: usize,
) -> T {
    if row < rows && column < columns {
        matrix.get(row * columns + column).unwrap_or(outside)
    } else {
        outside
    }
}

/// # Safety
/// 1. The launch has [`TILED`]'s block along x and its blocks for m x n.
/// 2. The tiles are the block's own.
#[inline(always)]
unsafe fn multiply<
    T: Float,
    const A_IS_TURNED: bool,
    const B_IS_TURNED: bool,
    const A_PITCH: usize,
    const B_PITCH: usize,
>(
    product: Product<T>,
    a_tile: Tile<T, A_PITCH>,
    b_tile: Tile<T, B_PITCH>,
) {
    let Product { a, b, c, m, n, k } = product;
    let (block_row, block_column) = block_position(m.div_ceil(TILE), n.div_ceil(TILE));
    let thread = thread::thread_idx_x() as usize;
    let (tile_row, tile_column) = (thread / TILE, thread % TILE);
    let (row, column) = (
        block_row * TILE + tile_row,
        block_column * TILE + tile_column,
    );

    let mut sum = T::ZERO;
    for start in (0..k).step_by(TILE) {
        // SAFETY: (1) `tile_row`, `tile_column` < TILE. (2) Each thread writes its own element;
        // the barriers order the writes with the reads of this round and the last.
        unsafe {
            if A_IS_TURNED {
                let column = block_row * TILE + tile_column;
                let element = element_or(T::ZERO, a, (k, m), start + tile_row, column);
                a_tile.store(tile_column, tile_row, element);
            } else {
                let element = element_or(T::ZERO, a, (m, k), row, start + tile_column);
                a_tile.store(tile_row, tile_column, element);
            }
            if B_IS_TURNED {
                let row = block_column * TILE + tile_row;
                let element = element_or(T::NEGATIVE_ZERO, b, (n, k), row, start + tile_column);
                b_tile.store(tile_column, tile_row, element);
            } else {
                let element = element_or(T::NEGATIVE_ZERO, b, (k, n), start + tile_row, column);
                b_tile.store(tile_row, tile_column, element);
            }
        }
        thread::sync_threads();
        for i in 0..TILE {
            // SAFETY: (1) as above, and i < TILE. (2) Written before the barrier.
            let (left, right) = unsafe { (a_tile.load(tile_row, i), b_tile.load(i, tile_column)) };
            sum = left.mul_add(right, sum);
        }
        thread::sync_threads();
    }
    if row < m && column < n {
        // SAFETY: (1) the output lies within C, which has m * n elements. (2) It is this
        // thread's alone: blocks and threads map one to one to outputs.
        unsafe { c.store(row * n + column, sum.canonical_nan()) };
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

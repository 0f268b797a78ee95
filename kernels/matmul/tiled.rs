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

use super::{Product, Tiling, block_position};
use cuda_std::prelude::*;

/// Rows and columns of a tile, and of the outputs that a block computes.
const TILE: usize = 32;

/// How the tiled kernels are launched.
pub const TILED: Tiling = Tiling {
    block_rows: TILE,
    block_columns: TILE,
    threads: (TILE * TILE) as u32,
};

type Tile<T> = SharedTile<T, TILE, TILE, TILE>;

/// Element (`row`, `column`) of a matrix of `rows` x `columns`, or zero outside it.
#[inline(always)]
fn element_or_zero<T: Float>(
    matrix: Global<T>,
    (rows, columns): (usize, usize),
    row: usize,
    column: usize,
) -> T {
    if row < rows && column < columns {
        matrix.get(row * columns + column).unwrap_or(T::ZERO)
    } else {
        T::ZERO
    }
}

/// # Safety
/// 1. The launch has [`TILED`]'s block along x and its blocks for m x n.
/// 2. The tiles are the block's own.
#[inline(always)]
unsafe fn multiply<T: Float>(product: Product<T>, a_tile: Tile<T>, b_tile: Tile<T>) {
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
            a_tile.store(
                tile_row,
                tile_column,
                element_or_zero(a, (m, k), row, start + tile_column),
            );
            b_tile.store(
                tile_row,
                tile_column,
                element_or_zero(b, (k, n), start + tile_row, column),
            );
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
        unsafe { c.store(row * n + column, sum) };
    }
}

macro_rules! tiled_kernels {
    ($($name:ident: $element:ty;)*) => {$(
        #[doc = concat!("C = A B in ", stringify!($element), ", one output for each thread.")]
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
            let a_tile = shared_tile![$element; TILE, TILE];
            let b_tile = shared_tile![$element; TILE, TILE];
            // SAFETY: (1) is the launch's. (2) Declared here.
            unsafe { multiply(Product { a, b, c, m, n, k }, a_tile, b_tile) }
        }
    )*};
}
tiled_kernels! {
    matmul_tiled_f32: f32;
    matmul_tiled_f64: f64;
}

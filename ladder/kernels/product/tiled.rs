//! Tiled (PMPP, figure 6.10): operands through tiles in shared memory.
//!
//! ```text
//! for each tile of K:
//!     each thread copies one element of A's tile and one of B's
//!     barrier; sum += a_tile[row][i] * b_tile[i][column] for the 32 i; barrier
//! ```
//!
//! An element read from global memory serves 32 outputs instead of one.
//!
//! Prediction: global memory traffic falls to 1/32 and is no longer the limit. The next limit is
//! two shared loads per multiply-add. Departure from PMPP: elements outside the matrices count as
//! zero, so the sizes need not be multiples of the tile.

use super::{TILE, block_corner, element_or_zero, place_in_block, store_output};
use cuda_std::prelude::*;

/// A tile whose rows are `PITCH` elements apart.
pub(super) type Tile<'block, const PITCH: usize> = SharedTile<'block, f32, TILE, TILE, PITCH>;

/// Adds the products of one tile to the output of thread (`down`, `along`).
///
/// # Safety
/// 1. `down` and `along` are below `TILE`; both tiles have been written, before a barrier.
#[inline(always)]
pub(super) unsafe fn accumulate<const B_PITCH: usize>(
    mut sum: f32,
    a_tile: Tile<TILE>,
    b_tile: Tile<B_PITCH>,
    (down, along): (usize, usize),
) -> f32 {
    for i in 0..TILE {
        // SAFETY: the indices are below `TILE`, and the tiles were written before a barrier: the
        // caller's contract.
        let (left, right) = unsafe { (a_tile.load(down, i), b_tile.load(i, along)) };
        sum = Float::mul_add(left, right, sum);
    }
    sum
}

/// C = A B through tiles.
///
/// # Safety
/// 1. The launch has blocks of 32 x 32 threads and a grid of ceil(n / 32) x ceil(m / 32) blocks.
/// 2. `a`, `b`, `c` have m * k, k * n and m * n elements.
#[kernel(max_threads = 1024)]
pub unsafe fn product_tiled(
    a: Global<f32>,
    b: Global<f32>,
    c: GlobalMut<f32>,
    m: usize,
    n: usize,
    k: usize,
) {
    let a_tile = shared_tile![f32; TILE, TILE];
    let b_tile = shared_tile![f32; TILE, TILE];
    let (corner, (down, along)) = (block_corner(TILE, TILE), place_in_block());
    let (row, column) = (corner.0 + down, corner.1 + along);
    let mut sum = 0.0;
    for start in (0..k).step_by(TILE) {
        // SAFETY: the matrix has its elements: the caller's contract.
        let (left, right) = unsafe {
            (
                element_or_zero(a, (m, k), (row, start + along)),
                element_or_zero(b, (k, n), (start + down, column)),
            )
        };
        // SAFETY: `down` and `along` are below `TILE`. Each thread writes its own element. Barriers
        // separate the writes from the reads of this round and the last.
        unsafe {
            a_tile.store(down, along, left);
            b_tile.store(down, along, right);
        }
        thread::sync_threads();
        // SAFETY: `down` and `along` are below `TILE`, and both tiles were written before the
        // barrier.
        sum = unsafe { accumulate(sum, a_tile, b_tile, (down, along)) };
        thread::sync_threads();
    }
    // SAFETY: C has m * n elements, and each output belongs to one thread: the caller's contract.
    unsafe { store_output(c, (m, n), (row, column), sum) };
}

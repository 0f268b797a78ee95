//! The tiled kernel with a column-major B, copied as if it were row-major (PMPP, figure 6.4 A).
//!
//! Neighbouring threads still copy neighbouring elements of a row of B's tile, which are K elements
//! apart in memory: 32 sectors per request, with one used word in each.
//!
//! Prediction: 36 sectors instead of the tiled kernel's 8 for each 32 multiply-adds of a warp's
//! lanes: slower, but far from the factor of 32 without tiles.

use super::tiled::accumulate;
use super::{TILE, block_corner, element_or_zero, place_in_block, store_output};
use cuda_std::prelude::*;

/// C = A B for a column-major B, through tiles that are read by rows.
///
/// # Safety
/// 1. The launch has blocks of 32 x 32 threads and a grid of ceil(n / 32) x ceil(m / 32) blocks.
/// 2. `a`, `b`, `c` have m * k, k * n and m * n elements.
#[kernel(max_threads = 1024)]
pub unsafe fn product_tiled_uncoalesced(
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
                element_or_zero(b, (n, k), (column, start + down)),
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

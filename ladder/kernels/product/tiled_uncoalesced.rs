//! The tiled kernel with a column-major B, copied as if it were row-major (PMPP, figure 6.4 A).
//!
//! Neighbouring threads still copy neighbouring elements of a row of B's tile, which are K
//! elements apart in memory: 32 sectors for a request, of each of which one word is used.
//!
//! Prediction: for each 32 multiply-adds of a warp's lanes there are 36 sectors where the tiled
//! kernel has 8: slower, but far from the 32 times of the kernel without tiles.

use super::tiled::accumulate;
use super::{TILE, block_corner, element_or_zero, place_in_block, store_output};
use cuda_std::prelude::*;

/// C = A B of a column-major B, through tiles that are read by rows.
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
        // SAFETY: (1) is (2).
        let (left, right) = unsafe {
            (
                element_or_zero(a, (m, k), (row, start + along)),
                element_or_zero(b, (n, k), (column, start + down)),
            )
        };
        // SAFETY: (1) `down`, `along` < TILE. (2) Each thread writes its own element; the barriers
        // order the writes with the reads of this round and the last.
        unsafe {
            a_tile.store(down, along, left);
            b_tile.store(down, along, right);
        }
        thread::sync_threads();
        // SAFETY: (1) as above; the barrier is passed.
        sum = unsafe { accumulate(sum, a_tile, b_tile, (down, along)) };
        thread::sync_threads();
    }
    // SAFETY: (1) is (2); by (1) threads and outputs are one to one.
    unsafe { store_output(c, (m, n), (row, column), sum) };
}

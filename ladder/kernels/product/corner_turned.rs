//! Corner turning (PMPP, figure 6.4 B): a column-major B, copied by columns.
//!
//! ```text
//! for each tile of K:
//!     a_tile[threadIdx.y][threadIdx.x] = a[row][start + threadIdx.x]
//!     b_tile[threadIdx.x][threadIdx.y] = b[(first column + threadIdx.y) * K + start + threadIdx.x]
//! ```
//!
//! While copying B's tile, threadIdx.x and threadIdx.y swap roles: neighbouring threads read
//! neighbouring elements of a column, which are contiguous in memory, and write them down a column
//! of the tile, because order costs little in shared memory.
//!
//! Prediction: as fast as the tiled kernel with a row-major B. Departure from PMPP: the tile's rows
//! are 33 words apart. With 32, the words of a column would be in one bank.

use super::tiled::accumulate;
use super::{TILE, block_corner, element_or_zero, place_in_block, store_output};
use cuda_std::prelude::*;

/// C = A B for a column-major B, through corner-turned tiles.
///
/// # Safety
/// 1. The launch has blocks of 32 x 32 threads and a grid of ceil(n / 32) x ceil(m / 32) blocks.
/// 2. `a`, `b`, `c` have m * k, k * n and m * n elements.
#[kernel(max_threads = 1024)]
pub unsafe fn product_corner_turned(
    a: Global<f32>,
    b: Global<f32>,
    c: GlobalMut<f32>,
    m: usize,
    n: usize,
    k: usize,
) {
    let a_tile = shared_tile![f32; TILE, TILE];
    let b_tile = shared_tile![f32; TILE, TILE; pitch = TILE + 1];
    let (corner, (down, along)) = (block_corner(TILE, TILE), place_in_block());
    let (row, column) = (corner.0 + down, corner.1 + along);
    let mut sum = 0.0;
    for start in (0..k).step_by(TILE) {
        // SAFETY: the matrix has its elements: the caller's contract.
        let (left, right) = unsafe {
            (
                element_or_zero(a, (m, k), (row, start + along)),
                element_or_zero(b, (n, k), (corner.1 + down, start + along)),
            )
        };
        // SAFETY: `down` and `along` are below `TILE`. Each thread writes its own element. Barriers
        // separate the writes from the reads of this round and the last.
        unsafe {
            a_tile.store(down, along, left);
            b_tile.store(along, down, right);
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

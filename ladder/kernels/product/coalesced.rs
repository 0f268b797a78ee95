//! Coalesced (PMPP, figure 6.2): a row-major B, read by rows.
//!
//! ```text
//! column = block column * 32 + threadIdx.x
//! for k: sum += a[row][k] * b[k][column]
//! ```
//!
//! Neighbouring threads read neighbouring elements: a warp's 32 words are 4 sectors of one line.
//!
//! Prediction: 5 sectors for 32 multiply-adds (4 of B, 1 of A) instead of 33: several times faster.

use super::{TILE, block_corner, place_in_block, store_output};
use cuda_std::prelude::*;

/// C = A B, a warp along a row of C.
///
/// # Safety
/// 1. The launch has blocks of 32 x 32 threads and a grid of ceil(n / 32) x ceil(m / 32) blocks.
/// 2. `a`, `b`, `c` have m * k, k * n and m * n elements.
#[kernel(max_threads = 1024)]
pub unsafe fn product_coalesced(
    a: Global<f32>,
    b: Global<f32>,
    c: GlobalMut<f32>,
    m: usize,
    n: usize,
    k: usize,
) {
    let (corner, (down, along)) = (block_corner(TILE, TILE), place_in_block());
    let (row, column) = (corner.0 + down, corner.1 + along);
    if row < m && column < n {
        let mut sum = 0.0;
        for i in 0..k {
            // SAFETY: row < m, i < k and column < n, and the matrices have these elements: the
            // caller's contract.
            let (left, right) = unsafe { (a.load(row * k + i), b.load(i * n + column)) };
            sum = Float::mul_add(left, right, sum);
        }
        // SAFETY: C has m * n elements, and each output belongs to one thread: the caller's
        // contract.
        unsafe { store_output(c, (m, n), (row, column), sum) };
    }
}

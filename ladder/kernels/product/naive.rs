//! One output for each thread, straight from global memory, with the threads of a warp down a
//! column of C.
//!
//! ```text
//! row = block row * 32 + threadIdx.x; column = block column * 32 + threadIdx.y
//! for k: sum += a[row][k] * b[k][column]
//! ```
//!
//! It is what a thread index taken for a row index gives. Neighbouring threads read elements of A
//! that are a row apart, and write such elements of C: each request of a warp is 32 sectors. Their
//! element of B is the same one.
//!
//! Prediction: bound by the sectors of A, 32 for each 32 multiply-adds, in the first-level cache
//! (a sector serves the next 7 steps of k, if it stays): the slowest step.

use super::{TILE, block_corner, place_in_block, store_output};
use cuda_std::prelude::*;

/// C = A B, a warp down a column of C.
///
/// # Safety
/// 1. The launch has blocks of 32 x 32 threads and a grid of ceil(n / 32) x ceil(m / 32) blocks.
/// 2. `a`, `b`, `c` have m * k, k * n and m * n elements.
#[kernel(max_threads = 1024)]
pub unsafe fn product_naive(
    a: Global<f32>,
    b: Global<f32>,
    c: GlobalMut<f32>,
    m: usize,
    n: usize,
    k: usize,
) {
    let (corner, (along, down)) = (block_corner(TILE, TILE), place_in_block());
    let (row, column) = (corner.0 + down, corner.1 + along);
    if row < m && column < n {
        let mut sum = 0.0;
        for i in 0..k {
            // SAFETY: (1) row < m, i < k and column < n, by (2).
            let (left, right) = unsafe { (a.load(row * k + i), b.load(i * n + column)) };
            sum = Float::mul_add(left, right, sum);
        }
        // SAFETY: (1) is (2); by (1) threads and outputs are one to one.
        unsafe { store_output(c, (m, n), (row, column), sum) };
    }
}

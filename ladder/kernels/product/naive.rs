//! One output per thread, straight from global memory, with the threads of a warp down a column of
//! C.
//!
//! ```text
//! row = block row * 32 + threadIdx.x; column = block column * 32 + threadIdx.y
//! for k: sum += a[row][k] * b[k][column]
//! ```
//!
//! This happens if the thread index is used as the row index. Neighbouring threads read elements of
//! A that are a row apart, and write elements of C that are a row apart: each request of a warp is
//! 32 sectors. All read the same element of B.
//!
//! Prediction: the slowest step, bound by the sectors of A in L1: 32 for each 32 multiply-adds. (A
//! sector serves the next 7 steps of k, if it stays in L1.)

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

//! Uncoalesced (PMPP, figure 6.3): a column-major B, read by rows.
//!
//! ```text
//! column = block column * 32 + threadIdx.x
//! for k: sum += a[row][k] * b[column * K + k]
//! ```
//!
//! Neighbouring threads have neighbouring columns, as they should. But neighbouring elements of a
//! row of B are K elements apart, so a warp requests 32 sectors and uses 4 bytes of each. The whole
//! warp reads the same element of A.
//!
//! Prediction: as the naive kernel, with B instead of A. The stores of C are coalesced, which
//! matters only if K is small.

use super::{TILE, block_corner, place_in_block, store_output};
use cuda_std::prelude::*;

/// C = A B for a column-major B, a warp along a row of C.
///
/// # Safety
/// 1. The launch has blocks of 32 x 32 threads and a grid of ceil(n / 32) x ceil(m / 32) blocks.
/// 2. `a`, `b`, `c` have m * k, k * n and m * n elements.
#[kernel(max_threads = 1024)]
pub unsafe fn product_uncoalesced(
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
            let (left, right) = unsafe { (a.load(row * k + i), b.load(column * k + i)) };
            sum = Float::mul_add(left, right, sum);
        }
        // SAFETY: C has m * n elements, and each output belongs to one thread: the caller's
        // contract.
        unsafe { store_output(c, (m, n), (row, column), sum) };
    }
}

//! Neighboured pairs with less divergence (PCC): the same pairs, added by the first threads of the
//! block.
//!
//! ```text
//! for stride in 1, 2, 4, ... below the block's size:
//!     at = 2 stride thread
//!     if at < the block's size: x[at] += x[at + stride]
//!     barrier
//! ```
//!
//! Step: whole warps work or idle, until less than one warp has work.
//!
//! Prediction: half of the warps run in the first round, a quarter in the second, so faster than
//! neighboured pairs. Not twice as fast, because the accesses are unchanged: lanes request every
//! second, then every fourth element, and every sector is still written.
//!
//! Departure from PCC: as in neighboured pairs.

use super::part::Part;
use cuda_std::prelude::*;

/// Adds each block's elements of `x`, in place, and writes the sums to `partials`.
///
/// # Safety
/// 1. The launch has one dimension and blocks of a power of two of threads; `partials` has an
///    element for each block, and blocks times threads are at least `x.len()`.
#[kernel(max_threads = 1024)]
pub unsafe fn sum_neighboured_less(x: GlobalMut<i32>, partials: GlobalMut<i32>) {
    let thread = thread::thread_idx_x();
    let threads = thread::block_dim_x();
    let part = Part::of_block(x, 1, threads);
    let mut stride = 1;
    while stride < threads {
        let at = 2 * stride * thread;
        if at < threads {
            // SAFETY: in this round multiples of 2 `stride` are written, each by one thread, and
            // odd multiples of `stride` only read.
            unsafe { part.add(at, stride) };
        }
        thread::sync_threads();
        stride *= 2;
    }
    // SAFETY: `partials` has an element for each block: the caller's contract. Thread 0 itself
    // wrote element 0 last.
    unsafe { part.write_sum(partials) };
}

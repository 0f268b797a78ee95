//! Unrolled warps 8 (PCC, `reduceUnrollWarps8`): eight data blocks per block, and the last warp's
//! rounds unrolled.
//!
//! ```text
//! x[thread] = the sum of x[thread + i * the block's size] for i from 0 to 7
//! barrier
//! interleaved pairs, down to twice a warp's threads
//! in the first warp, unrolled: stride 32, 16, 8, 4, 2, 1, each with a barrier of the warp
//! ```
//!
//! Step: eight independent loads per thread instead of two; the last six rounds need neither a
//! block barrier nor a loop.
//!
//! Prediction: an eighth of the array is written instead of a half, the cost of rounds is spread
//! over four times as many elements, and eight loads in flight hide memory latency: most of the
//! memory bandwidth.
//!
//! Departures from PCC:
//! 1. PCC relies on lockstep, with `volatile` to force loads and stores. Since compute capability
//!    7.0 lanes have their own program counters, so a warp barrier ([`warp::sync`]) separates the
//!    rounds.
//! 2. In PCC all lanes add in every round. Here only lanes whose sum is needed add, so one barrier
//!    per round is enough.
//! 3. If the last block's part is incomplete, its existing elements are added, too, and no thread
//!    returns before a barrier.

use super::part::{Part, UNROLLED};
use cuda_std::prelude::*;

/// Adds eight elements of `x` per thread in each block, in place, and writes the sums to
/// `partials`.
///
/// # Safety
/// 1. The launch has one dimension and blocks of a power of two of threads, 64 at least; `partials`
///    has an element for each block, and blocks times threads are at least an eighth of `x.len()`.
#[kernel(max_threads = 1024)]
pub unsafe fn sum_unrolled_warps(x: GlobalMut<i32>, partials: GlobalMut<i32>) {
    let thread = thread::thread_idx_x();
    let threads = thread::block_dim_x();
    let part = Part::of_block(x, UNROLLED, threads);
    // SAFETY: each thread accesses only the element at its number in each data block.
    unsafe { part.fold_data_blocks(thread, threads) };
    thread::sync_threads();

    let part = part.first_data_block(threads);
    let mut stride = threads / 2;
    while stride > warp::width() {
        if thread < stride {
            // SAFETY: in this round elements below `stride` are written, each by one thread, and
            // elements from `stride` only read.
            unsafe { part.add(thread, stride) };
        }
        thread::sync_threads();
        stride /= 2;
    }
    // SAFETY: at least 64 threads, a power of two, are whole warps of 32 or 64. The block's barrier
    // is above.
    unsafe { part.add_in_first_warp() };
    // SAFETY: `partials` has an element for each block: the caller's contract. Thread 0 itself
    // wrote element 0 last.
    unsafe { part.write_sum(partials) };
}

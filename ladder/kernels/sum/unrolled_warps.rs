//! Unrolled warps 8 (PCC, `reduceUnrollWarps8`): eight data blocks for each block, and the
//! rounds of the last warp written out.
//!
//! ```text
//! x[thread] = the sum of x[thread + i * the block's size] for i from 0 to 7
//! barrier
//! interleaved pairs, down to twice a warp's threads
//! in the first warp, unrolled: stride 32, 16, 8, 4, 2, 1, each with a barrier of the warp
//! ```
//!
//! Step: eight independent loads for each thread instead of two; the last six rounds need neither
//! the block's barrier nor a loop.
//!
//! Prediction: an eighth of the array is written instead of a half, the rounds are paid for four
//! times as many elements, and eight loads in flight hide the latency of memory: most of what
//! memory can deliver.
//!
//! Departures from PCC:
//! 1. PCC trusts that the lanes of a warp run in lockstep, and makes each of them load and
//!    store again by `volatile`. Lanes have had their own program counters since compute
//!    capability 7.0: here a barrier of the warp ([`warp::sync`]) is between the rounds.
//! 2. All of PCC's lanes add in every round; here those alone whose element counts, so one
//!    barrier for each round is enough.
//! 3. Where the last block's part ends early, what there is of it is added too; and no thread
//!    leaves before a barrier.

use super::part::{Part, UNROLLED};
use cuda_std::prelude::*;

/// Adds eight times as many elements of `x` as a block has threads, in place, and leaves the sums
/// in `partials`.
///
/// # Safety
/// 1. The launch has one dimension and blocks of a power of two of threads, 64 at least;
///    `partials` has an element for each block, and blocks times threads are at least an eighth of
///    `x.len()`.
#[kernel(max_threads = 1024)]
pub unsafe fn sum_unrolled_warps(x: GlobalMut<i32>, partials: GlobalMut<i32>) {
    let thread = thread::thread_idx_x();
    let threads = thread::block_dim_x();
    let part = Part::of_block(x, UNROLLED, threads);
    // SAFETY: (1) each thread has its own place in all data blocks.
    unsafe { part.fold_data_blocks(thread, threads) };
    thread::sync_threads();

    let part = part.first_data_block(threads);
    let mut stride = threads / 2;
    while stride > warp::width() {
        if thread < stride {
            // SAFETY: (1) elements below stride are written, and those from stride on read.
            unsafe { part.add(thread, stride) };
        }
        thread::sync_threads();
        stride /= 2;
    }
    // SAFETY: (1) 64 threads and more are whole warps of 32 or 64, and the barrier is above.
    unsafe { part.add_in_first_warp() };
    // SAFETY: (1) is (1); thread 0 itself wrote element 0 last.
    unsafe { part.write_sum(partials) };
}

//! Unrolling 2 (PCC, `reduceUnrolling`): each block first adds a second data block to its own, then
//! continues with interleaved pairs.
//!
//! ```text
//! x[thread] += x[thread + the block's size]
//! barrier
//! interleaved pairs
//! ```
//!
//! Step: half as many blocks, and two independent loads per thread.
//!
//! Prediction: the cost of rounds and barriers is spread over twice as many elements, so up to
//! twice as fast if they are the limit. The number of bytes written is unchanged.
//!
//! Departures from PCC: as in neighboured pairs; and if the last block's second data block is
//! incomplete, its existing elements are added, too.

use super::part::Part;
use cuda_std::prelude::*;

/// Adds two elements of `x` per thread in each block, in place, and writes the sums to `partials`.
///
/// # Safety
/// 1. The launch has one dimension and blocks of a power of two of threads; `partials` has an
///    element for each block, and blocks times threads are at least half of `x.len()`.
#[kernel(max_threads = 1024)]
pub unsafe fn sum_unrolled(x: GlobalMut<i32>, partials: GlobalMut<i32>) {
    let thread = thread::thread_idx_x();
    let threads = thread::block_dim_x();
    let part = Part::of_block(x, 2, threads);
    // SAFETY: each thread writes its own element of the first data block; the second is only read.
    unsafe { part.add(thread, threads) };
    thread::sync_threads();

    let part = part.first_data_block(threads);
    let mut stride = threads / 2;
    while stride > 0 {
        if thread < stride {
            // SAFETY: in this round elements below `stride` are written, each by one thread, and
            // elements from `stride` only read.
            unsafe { part.add(thread, stride) };
        }
        thread::sync_threads();
        stride /= 2;
    }
    // SAFETY: `partials` has an element for each block: the caller's contract. Thread 0 itself
    // wrote element 0 last.
    unsafe { part.write_sum(partials) };
}

//! Unrolling 2 (PCC, `reduceUnrolling`): each block first adds a second data block to its
//! own, then goes on as with interleaved pairs.
//!
//! ```text
//! x[thread] += x[thread + the block's size]
//! barrier
//! interleaved pairs
//! ```
//!
//! Step: half as many blocks, and each thread has two loads that do not depend on one another.
//!
//! Prediction: the rounds with their barriers are paid for twice as many elements, so up to twice
//! as fast where they are what costs; as many bytes are written as before.
//!
//! Departures from PCC: as in neighboured pairs; and where the last block's part has no whole
//! second data block, what there is of it is added too.

use super::part::Part;
use cuda_std::prelude::*;

/// Adds twice as many elements of `x` as a block has threads, in place, and leaves the sums in
/// `partials`.
///
/// # Safety
/// 1. The launch has one dimension and blocks of a power of two of threads; `partials` has an
///    element for each block, and blocks times threads are at least half of `x.len()`.
#[kernel(max_threads = 1024)]
pub unsafe fn sum_unrolled(x: GlobalMut<i32>, partials: GlobalMut<i32>) {
    let thread = thread::thread_idx_x();
    let threads = thread::block_dim_x();
    let part = Part::of_block(x, 2, threads);
    // SAFETY: (1) the first data block is written, each element by its thread, the second read.
    unsafe { part.add(thread, threads) };
    thread::sync_threads();

    let part = part.first_data_block(threads);
    let mut stride = threads / 2;
    while stride > 0 {
        if thread < stride {
            // SAFETY: (1) elements below stride are written, and those from stride on read.
            unsafe { part.add(thread, stride) };
        }
        thread::sync_threads();
        stride /= 2;
    }
    // SAFETY: (1) is (1); thread 0 itself wrote element 0 last.
    unsafe { part.write_sum(partials) };
}

//! Interleaved pairs (PCC, "interleaved pair"): a thread's partner is half of the remaining
//! elements away, so the remaining elements stay contiguous.
//!
//! ```text
//! for stride in half the block's size, a quarter, ..., 1:
//!     if thread < stride: x[thread] += x[thread + stride]
//!     barrier
//! ```
//!
//! Step: neighbouring lanes access neighbouring elements. The branch is as in the previous step.
//!
//! Prediction: a warp's request is 4 sectors instead of 8, 16 and then 32. Only the first half of
//! each data block is written, so half as many bytes go back to memory.
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
pub unsafe fn sum_interleaved(x: GlobalMut<i32>, partials: GlobalMut<i32>) {
    let thread = thread::thread_idx_x();
    let threads = thread::block_dim_x();
    let part = Part::of_block(x, 1, threads);
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

//! Neighboured pairs (PCC, "neighbored pair"): in round r a thread whose index is a multiple
//! of 2^(r+1) adds the element 2^r to the right.
//!
//! ```text
//! for stride in 1, 2, 4, ... below the block's size:
//!     if thread % (2 stride) == 0: x[thread] += x[thread + stride]
//!     barrier
//! ```
//!
//! In the first round every second lane adds, in the second every fourth, and so on. The branch
//! diverges: a warp with one active lane takes as long as one with all. Every sector of the array
//! is read and written in each round.
//!
//! Departure from PCC: threads past the end of the array do not return early; they take part in the
//! barriers and add nothing.

use super::part::Part;
use cuda_std::prelude::*;

/// Adds each block's elements of `x`, in place, and writes the sums to `partials`.
///
/// # Safety
/// 1. The launch has one dimension and blocks of a power of two of threads; `partials` has an
///    element for each block, and blocks times threads are at least `x.len()`.
#[kernel(max_threads = 1024)]
pub unsafe fn sum_neighboured(x: GlobalMut<i32>, partials: GlobalMut<i32>) {
    let thread = thread::thread_idx_x();
    let threads = thread::block_dim_x();
    let part = Part::of_block(x, 1, threads);
    let mut stride = 1;
    while stride < threads {
        if thread.is_multiple_of(2 * stride) {
            // SAFETY: in this round multiples of 2 `stride` are written, each by one thread, and
            // odd multiples of `stride` only read.
            unsafe { part.add(thread, stride) };
        }
        thread::sync_threads();
        stride *= 2;
    }
    // SAFETY: `partials` has an element for each block: the caller's contract. Thread 0 itself
    // wrote element 0 last.
    unsafe { part.write_sum(partials) };
}

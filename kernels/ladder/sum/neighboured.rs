//! Neighboured pairs (seed 001, "neighbored pair"): in round r a thread whose index is a multiple
//! of 2^(r+1) adds the element 2^r to the right of its own.
//!
//! ```text
//! for stride in 1, 2, 4, ... below the block's size:
//!     if thread % (2 stride) == 0: x[thread] += x[thread + stride]
//!     barrier
//! ```
//!
//! In every round but the first ones, most lanes of each warp have nothing to do, and yet every
//! warp with one lane at work runs: the branch diverges.
//!
//! Departure from the seed: threads behind the end of the array do not return before a barrier;
//! they take part in it and add nothing.

use cuda_std::prelude::*;

/// Adds each block's elements of `x`, in place, and leaves the sums in `partials`.
///
/// # Safety
/// 1. The launch has one dimension; `partials` has an element for each block, and blocks times
///    threads are at least `x.len()`.
#[kernel(max_threads = 1024)]
pub unsafe fn sum_neighboured(x: GlobalMut<i32>, partials: GlobalMut<i32>) {
    let thread = thread::thread_idx_x() as usize;
    let threads = thread::block_dim_x() as usize;
    let block = thread::block_idx_x() as usize;
    let own = block * threads + thread;

    let mut stride = 1;
    while stride < threads {
        if thread.is_multiple_of(2 * stride) && thread + stride < threads && own + stride < x.len()
        {
            // SAFETY: (1) `own < own + stride < x.len()`. (2) In this round thread t writes
            // element t alone and reads element t + stride, which no thread of the round writes;
            // the barrier lies between the rounds. Blocks touch their own elements.
            unsafe { x.store(own, x.load(own).wrapping_add(x.load(own + stride))) };
        }
        thread::sync_threads();
        stride *= 2;
    }
    if thread == 0 {
        let sum = if own < x.len() {
            // SAFETY: (1) is the comparison. (2) This thread wrote it last.
            unsafe { x.load(own) }
        } else {
            0
        };
        // SAFETY: (1) is the launch's (1). (2) One thread of each block writes its own.
        unsafe { partials.store(block, sum) };
    }
}

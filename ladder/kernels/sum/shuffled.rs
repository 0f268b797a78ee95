//! Warp shuffles: what a thread has added stays in its register, and lanes hand registers to one
//! another.
//!
//! ```text
//! sum = the sum of x[thread + i * the block's size] for i from 0 to 7
//! in each warp: sum += the sum of the lane 1, 2, 4, 8, 16 away
//! one shared word for each warp; barrier
//! in the first warp: the same over the warps' words
//! ```
//!
//! Step: the array is read once and never written; two rounds of shuffles and one barrier of the
//! block take the place of all rounds through memory.
//!
//! Prediction: the eighth of the array that was written, and read again in later rounds, is saved:
//! about an eighth of the bytes, and with them of the time.

use super::part::UNROLLED;
use cuda_std::prelude::*;

/// The sum of the elements at the thread's place in the block's [`UNROLLED`] data blocks, as far
/// as `x` has them.
#[inline(always)]
fn sum_of_thread(x: Global<i32>) -> i32 {
    let threads = thread::block_dim_x() as usize;
    let whole = threads * UNROLLED as usize;
    let first = thread::block_idx_x() as usize * whole;
    let own = first + thread::thread_idx_x() as usize;
    let mut sum = 0_i32;
    if x.len().saturating_sub(first) >= whole {
        let mut i = 0;
        while i < UNROLLED as usize {
            // SAFETY: (1) all elements of the block are there.
            sum = sum.wrapping_add(unsafe { x.load(own + i * threads) });
            i += 1;
        }
    } else {
        let mut i = 0;
        while i < UNROLLED as usize {
            sum = sum.wrapping_add(x.get(own + i * threads).unwrap_or(0));
            i += 1;
        }
    }
    sum
}

/// Adds eight times as many elements of `x` as a block has threads, and leaves the sums in
/// `partials`.
///
/// # Safety
/// 1. The launch has one dimension and blocks of a power of two of threads, 64 at least;
///    `partials` has an element for each block, and blocks times threads are at least an eighth of
///    `x.len()`.
#[kernel(max_threads = 1024)]
pub unsafe fn sum_shuffled(x: Global<i32>, partials: GlobalMut<i32>) {
    let scratch = shared_array![i32; block::MAX_WARPS];
    let of_thread = sum_of_thread(x);
    // SAFETY: (1) 64 threads and more are whole warps of 32 or 64. (2) Nothing else uses it.
    let of_block = unsafe { block::reduce(of_thread, 0, scratch, i32::wrapping_add) };
    if thread::thread_idx_x() == 0 {
        // SAFETY: (1) is (1). (2) One thread of each block writes its own.
        unsafe { partials.store(thread::block_idx_x() as usize, of_block) };
    }
}

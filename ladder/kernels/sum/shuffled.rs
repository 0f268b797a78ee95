//! Warp shuffles: sums stay in registers, and lanes exchange registers.
//!
//! ```text
//! sum = the sum of x[thread + i * the block's size] for i from 0 to 7
//! in each warp: sum += the sum of the lane 1, 2, 4, 8, 16 away
//! one shared word for each warp; barrier
//! in the first warp: the same over the warps' words
//! ```
//!
//! Step: the array is read once and never written. Two rounds of shuffles and one block barrier
//! replace all rounds through memory.
//!
//! Prediction: saves writing an eighth of the array, and reading it again in later rounds: about an
//! eighth of the bytes, and of the time.

use super::part::UNROLLED;
use cuda_std::prelude::*;

/// Sums the elements at the thread's index in the block's [`UNROLLED`] data blocks that `x` has.
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
            // SAFETY: `x` has all of the block's elements: compared above.
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

/// Adds eight elements of `x` per thread in each block, and writes the sums to `partials`.
///
/// # Safety
/// 1. The launch has one dimension and blocks of a power of two of threads, 64 at least; `partials`
///    has an element for each block, and blocks times threads are at least an eighth of `x.len()`.
#[kernel(max_threads = 1024)]
pub unsafe fn sum_shuffled(x: Global<i32>, partials: GlobalMut<i32>) {
    let scratch = shared_array![i32; block::MAX_WARPS];
    let of_thread = sum_of_thread(x);
    // SAFETY: at least 64 threads, a power of two, are whole warps of 32 or 64. Nothing else uses
    // the scratch.
    let of_block = unsafe { block::reduce(of_thread, 0, scratch, i32::wrapping_add) };
    if thread::thread_idx_x() == 0 {
        // SAFETY: `partials` has an element for each block: the caller's contract. One thread of
        // each block writes its own.
        unsafe { partials.store(thread::block_idx_x() as usize, of_block) };
    }
}

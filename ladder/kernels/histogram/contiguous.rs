//! Thread coarsening with a contiguous partition: each thread counts 64 elements that are adjacent
//! in memory.
//!
//! ```text
//! privatised, with for i from 0 to 63: private[x[64 thread + i]] += 1
//! ```
//!
//! Step: a private copy is cleared and committed once for 64 times as many elements.
//!
//! Prediction: the cost of commits, which the previous step paid for each block, nearly vanishes.
//! But lanes read bytes that are 64 apart: each request touches 32 sectors, and uses one byte of
//! each. The next 31 requests depend on L1 to keep them.

use super::part::{COARSENING, Part};
use super::private::{BINS, PrivateBins};
use cuda_std::prelude::*;

/// Adds the number of occurrences of each byte value in `x` to its element of `bins`.
///
/// # Safety
/// 1. The launch has one dimension and at least `x.len()` / [`COARSENING`] threads, rounded up;
///    `bins` has 256 elements.
#[kernel(max_threads = 1024)]
pub unsafe fn histogram_contiguous(x: Global<u8>, bins: GlobalMut<u32>) {
    let storage = shared_array![u32; BINS];
    // SAFETY: nothing else uses the storage.
    let private = unsafe { PrivateBins::cleared(storage) };
    let part = Part::of_block(x);
    let mut at = part.first + thread::thread_idx_x() as usize * COARSENING;
    let end = part.end.min(at + COARSENING);
    while at < end {
        // SAFETY: the part's elements are elements of `x`.
        private.add(unsafe { x.load(at) }, 1);
        at += 1;
    }
    // SAFETY: `bins` has 256 elements: the caller's contract. The launch accesses them only here.
    unsafe { private.commit(bins) };
}

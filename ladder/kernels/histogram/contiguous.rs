//! Thread coarsening with a contiguous partition: each thread counts 64 elements that are adjacent
//! in memory.
//!
//! ```text
//! privatised, with for i from 0 to 63: private[x[64 thread + i]] += 1
//! ```
//!
//! Step: a private copy is cleared and committed for 64 times as many elements.
//!
//! Prediction: the commits, which the step before paid for each block, hardly count any more. But
//! lanes read bytes that are 64 apart: each request touches 32 sectors and uses a byte of each,
//! and it is left to the L1 cache that the next 31 requests find them.

use super::part::{COARSENING, Part};
use super::private::{BINS, PrivateBins};
use cuda_std::prelude::*;

/// Adds the number of times that each byte value occurs in `x` to its element of `bins`.
///
/// # Safety
/// 1. The launch has one dimension and at least `x.len()` / [`COARSENING`] threads, rounded up;
///    `bins` has 256 elements.
#[kernel(max_threads = 1024)]
pub unsafe fn histogram_contiguous(x: Global<u8>, bins: GlobalMut<u32>) {
    let storage = shared_array![u32; BINS];
    // SAFETY: (1) nothing else has the storage.
    let private = unsafe { PrivateBins::cleared(storage) };
    let part = Part::of_block(x);
    let mut at = part.first + thread::thread_idx_x() as usize * COARSENING;
    let end = part.end.min(at + COARSENING);
    while at < end {
        // SAFETY: (1) the part's elements are of `x`.
        private.add(unsafe { x.load(at) }, 1);
        at += 1;
    }
    // SAFETY: (1) is (1).
    unsafe { private.commit(bins) };
}

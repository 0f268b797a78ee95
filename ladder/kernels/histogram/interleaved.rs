//! Coarsening with an interleaved partition: each thread counts 64 elements that are as far apart
//! as the block has threads.
//!
//! ```text
//! privatised, with for i from 0 to 63: private[x[thread + i * the block's size]] += 1
//! ```
//!
//! Step: in each iteration the lanes of a warp read neighbouring bytes.
//!
//! Prediction: a request touches 1 sector instead of 32, so what is left is the updates in shared
//! memory: those of a warp wait for one another where they share a bank.

use super::part::Part;
use super::private::{BINS, PrivateBins};
use cuda_std::prelude::*;

/// Adds the number of times that each byte value occurs in `x` to its element of `bins`.
///
/// # Safety
/// 1. The launch has one dimension and at least `x.len()` /
///    [`COARSENING`](super::COARSENING) threads, rounded up; `bins` has 256 elements.
#[kernel(max_threads = 1024)]
pub unsafe fn histogram_interleaved(x: Global<u8>, bins: GlobalMut<u32>) {
    let storage = shared_array![u32; BINS];
    // SAFETY: (1) nothing else has the storage.
    let private = unsafe { PrivateBins::cleared(storage) };
    let part = Part::of_block(x);
    let mut at = part.first + thread::thread_idx_x() as usize;
    while at < part.end {
        // SAFETY: (1) the part's elements are of `x`.
        private.add(unsafe { x.load(at) }, 1);
        at += thread::block_dim_x() as usize;
    }
    // SAFETY: (1) is (1).
    unsafe { private.commit(bins) };
}

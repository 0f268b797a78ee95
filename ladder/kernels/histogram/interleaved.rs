//! Coarsening with an interleaved partition: each thread counts 64 elements, one block size apart.
//!
//! ```text
//! privatised, with for i from 0 to 63: private[x[thread + i * the block's size]] += 1
//! ```
//!
//! Step: in each iteration the lanes of a warp read neighbouring bytes.
//!
//! Prediction: a request touches 1 sector instead of 32. The limit is then updates in shared
//! memory: those of a warp that share a bank are serialised.

use super::part::Part;
use super::private::{BINS, PrivateBins};
use cuda_std::prelude::*;

/// Adds the number of occurrences of each byte value in `x` to its element of `bins`.
///
/// # Safety
/// 1. The launch has one dimension and at least `x.len()` /
///    [`COARSENING`](super::COARSENING) threads, rounded up; `bins` has 256 elements.
#[kernel(max_threads = 1024)]
pub unsafe fn histogram_interleaved(x: Global<u8>, bins: GlobalMut<u32>) {
    let storage = shared_array![u32; BINS];
    // SAFETY: nothing else uses the storage.
    let private = unsafe { PrivateBins::cleared(storage) };
    let part = Part::of_block(x);
    let mut at = part.first + thread::thread_idx_x() as usize;
    while at < part.end {
        // SAFETY: the part's elements are elements of `x`.
        private.add(unsafe { x.load(at) }, 1);
        at += thread::block_dim_x() as usize;
    }
    // SAFETY: `bins` has 256 elements: the caller's contract. The launch accesses them only here.
    unsafe { private.commit(bins) };
}

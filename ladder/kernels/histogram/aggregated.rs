//! Aggregation: a thread counts a run of equal elements in a register and updates once for it.
//!
//! ```text
//! interleaved, with for i from 0 to 63: value = x[thread + i * the block's size]
//!     if value == last: run += 1
//!     else: private[last] += run; last, run = value, 1
//! private[last] += run
//! ```
//!
//! Step: fewer updates if consecutive elements of a thread are equal.
//!
//! Prediction: with skewed data a small fraction of the updates remains. With uniform data all but
//! one in 256 remain, and the comparison and its divergent branch are added: slower.

use super::part::Part;
use super::private::{BINS, PrivateBins};
use cuda_std::prelude::*;

/// Adds the number of occurrences of each byte value in `x` to its element of `bins`.
///
/// # Safety
/// 1. The launch has one dimension and at least `x.len()` /
///    [`COARSENING`](super::COARSENING) threads, rounded up; `bins` has 256 elements.
#[kernel(max_threads = 1024)]
pub unsafe fn histogram_aggregated(x: Global<u8>, bins: GlobalMut<u32>) {
    let storage = shared_array![u32; BINS];
    // SAFETY: nothing else uses the storage.
    let private = unsafe { PrivateBins::cleared(storage) };
    let part = Part::of_block(x);
    let mut at = part.first + thread::thread_idx_x() as usize;
    let (mut last, mut run) = (0, 0);
    while at < part.end {
        // SAFETY: the part's elements are elements of `x`.
        let value = unsafe { x.load(at) };
        if value == last {
            run += 1;
        } else {
            private.add(last, run);
            (last, run) = (value, 1);
        }
        at += thread::block_dim_x() as usize;
    }
    private.add(last, run);
    // SAFETY: `bins` has 256 elements: the caller's contract. The launch accesses them only here.
    unsafe { private.commit(bins) };
}

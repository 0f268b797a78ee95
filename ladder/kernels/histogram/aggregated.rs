//! Aggregation: a thread counts a run of equal elements in a register and updates once for it.
//!
//! ```text
//! interleaved, with for i from 0 to 63: value = x[thread + i * the block's size]
//!     if value == last: run += 1
//!     else: private[last] += run; last, run = value, 1
//! private[last] += run
//! ```
//!
//! Step: fewer updates where neighbours in a thread's sequence are equal.
//!
//! Prediction: with skewed data a small part of the updates is left; with uniform data all but one
//! in 256 are, and the comparison and its divergent branch come on top: slower.

use super::part::Part;
use super::private::{BINS, PrivateBins};
use cuda_std::prelude::*;

/// Adds the number of times that each byte value occurs in `x` to its element of `bins`.
///
/// # Safety
/// 1. The launch has one dimension and at least `x.len()` /
///    [`COARSENING`](super::COARSENING) threads, rounded up; `bins` has 256 elements.
#[kernel(max_threads = 1024)]
pub unsafe fn histogram_aggregated(x: Global<u8>, bins: GlobalMut<u32>) {
    let storage = shared_array![u32; BINS];
    // SAFETY: (1) nothing else has the storage.
    let private = unsafe { PrivateBins::cleared(storage) };
    let part = Part::of_block(x);
    let mut at = part.first + thread::thread_idx_x() as usize;
    let (mut last, mut run) = (0, 0);
    while at < part.end {
        // SAFETY: (1) the part's elements are of `x`.
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
    // SAFETY: (1) is (1).
    unsafe { private.commit(bins) };
}

//! Vector loads: the interleaved partition in 16-byte pieces.
//!
//! ```text
//! privatised, with for i from 0 to 3: for each byte of the 16 at 16 (thread + i * the block's size):
//!     private[byte] += 1
//! ```
//!
//! Step: one load reads 16 elements, and all four loads start before the first update.
//!
//! Prediction: a sixteenth of the loads, and none waits for updates. The number of updates is unchanged, so the gain
//! is whatever loading still costs.

use super::part::{COARSENING, Part};
use super::private::{BINS, PrivateBins};
use cuda_std::prelude::*;

/// Elements of one load.
const LANES: usize = 16;

/// Loads of each thread.
const VECTORS: usize = COARSENING / LANES;

/// Counts the calling thread's elements of a whole part.
///
/// # Safety
/// 1. The part is a whole part of `x`, and `x` is aligned to 16 bytes.
#[inline(always)]
unsafe fn count_vectors(x: Global<u8>, part: Part, private: PrivateBins) {
    let first = part.first + thread::thread_idx_x() as usize * LANES;
    let stride = thread::block_dim_x() as usize * LANES;
    let vectors: [[u8; LANES]; VECTORS] = core::array::from_fn(|vector| {
        // SAFETY: the part is whole: the caller's contract. The address and all offsets are
        // multiples of 16.
        unsafe { x.load_vector(first + vector * stride) }
    });
    for vector in &vectors {
        for &value in vector {
            private.add(value, 1);
        }
    }
}

/// Adds the number of occurrences of each byte value in `x` to its element of `bins`.
///
/// # Safety
/// 1. The launch has one dimension and at least `x.len()` / [`COARSENING`] threads, rounded up;
///    `bins` has 256 elements.
/// 2. The address of `x` is a multiple of 16.
#[kernel(max_threads = 1024)]
pub unsafe fn histogram_vectors(x: Global<u8>, bins: GlobalMut<u32>) {
    let storage = shared_array![u32; BINS];
    // SAFETY: nothing else uses the storage.
    let private = unsafe { PrivateBins::cleared(storage) };
    let part = Part::of_block(x);
    if part.is_whole() {
        // SAFETY: the part is whole: compared above. `x` is aligned: the caller's contract.
        unsafe { count_vectors(x, part, private) };
    } else {
        let mut at = part.first + thread::thread_idx_x() as usize;
        while at < part.end {
            // SAFETY: the part's elements are elements of `x`.
            private.add(unsafe { x.load(at) }, 1);
            at += thread::block_dim_x() as usize;
        }
    }
    // SAFETY: `bins` has 256 elements: the caller's contract. The launch accesses them only here.
    unsafe { private.commit(bins) };
}

//! Global atomics: each thread counts one element, in device memory.
//!
//! ```text
//! bins[x[thread]] += 1, atomically
//! ```
//!
//! The L2 cache performs the atomics. Those on one counter are serialised, across all blocks.

use cuda_std::prelude::*;

/// Adds the number of occurrences of each byte value in `x` to its element of `bins`.
///
/// # Safety
/// 1. The launch has one dimension and at least `x.len()` threads; `bins` has 256 elements.
#[kernel(max_threads = 1024)]
pub unsafe fn histogram_global(x: Global<u8>, bins: GlobalMut<u32>) {
    if let Some(value) = x.get(thread::unique_index().get()) {
        // SAFETY: `bins` has 256 elements: the caller's contract. All its accesses are atomic.
        unsafe { bins.atomic_add(usize::from(value), 1) };
    }
}

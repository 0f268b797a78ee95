//! Global atomics: each thread counts one element, in device memory.
//!
//! ```text
//! bins[x[thread]] += 1, atomically
//! ```
//!
//! The atomics are done by the L2 cache, and those of one counter one after another, whichever
//! block they come from.

use cuda_std::prelude::*;

/// Adds the number of times that each byte value occurs in `x` to its element of `bins`.
///
/// # Safety
/// 1. The launch has one dimension and at least `x.len()` threads; `bins` has 256 elements.
#[kernel(max_threads = 1024)]
pub unsafe fn histogram_global(x: Global<u8>, bins: GlobalMut<u32>) {
    if let Some(value) = x.get(thread::unique_index().get()) {
        // SAFETY: (1) is (1). (2) Nothing else touches the bins.
        unsafe { bins.atomic_add(usize::from(value), 1) };
    }
}

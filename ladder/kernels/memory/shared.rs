//! Shared memory: an array declared by the kernel, and one sized by the launch.
//!
//! ```text
//! for each block's part of x:
//!     shared[thread] = x[thread]
//!     barrier
//!     y[thread] = shared[last - thread]
//! ```
//!
//! Step: `extern __shared__` instead of `__shared__`; the code is the same.
//!
//! Prediction: no difference. Both read and write each part once, and are bound by DRAM.

use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Elements per part, and threads per block.
pub const PART: usize = 256;

/// Reverses the block's part of `x`.
///
/// # Safety
/// 1. The launch has one dimension and blocks of [`PART`] threads that cover `x`; `y` is as long,
///    and `part` has an element for each thread.
#[inline(always)]
unsafe fn reverse(x: Global<f32>, y: GlobalMut<f32>, part: SharedSlice<f32>) {
    let first = thread::block_idx_x() as usize * PART;
    let elements = PART.min(x.len() - first);
    let own = thread::thread_idx_x() as usize;
    // SAFETY: `x`, `y` and `part` have the elements: compared above, and the caller's contract. The
    // barrier orders writes before reads, and one thread writes each element of `y`.
    unsafe {
        if own < elements {
            part.store(own, x.load(first + own));
        }
        thread::sync_threads();
        if own < elements {
            y.store(first + own, part.load(elements - 1 - own));
        }
    }
}

/// Reverses each part of `x` in a static array.
///
/// # Safety
/// 1. The launch has one dimension and blocks of [`PART`] threads that cover `x`, none of them past
///    its end; `y` is as long.
#[kernel(max_threads = 256)]
pub unsafe fn memory_static_shared(x: Global<f32>, y: GlobalMut<f32>) {
    // SAFETY: the launch, the length of `y` and the shared memory: the caller's contract.
    unsafe { reverse(x, y, shared_array![f32; PART].as_slice()) }
}

/// Reverses each part of `x` in dynamic shared memory.
///
/// # Safety
/// 1. The launch has one dimension and blocks of [`PART`] threads that cover `x`, none of them past
///    its end, with 4 [`PART`] bytes of dynamic shared memory; `y` is as long.
#[kernel(max_threads = 256)]
pub unsafe fn memory_dynamic_shared(x: Global<f32>, y: GlobalMut<f32>) {
    // SAFETY: the launch, the length of `y` and the shared memory: the caller's contract.
    unsafe { reverse(x, y, dynamic_shared![f32]) }
}

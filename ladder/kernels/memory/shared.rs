//! Shared memory: an array that the kernel declares, and one whose size the launch
//! chooses.
//!
//! ```text
//! for each block's part of x:
//!     shared[thread] = x[thread]
//!     barrier
//!     y[thread] = shared[last - thread]
//! ```
//!
//! Step: `extern __shared__` in place of `__shared__`; the code is the same.
//!
//! Prediction: no difference. A part is read and written once, and both are bound by DRAM.

use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Elements of a part, and threads of a block.
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
    // SAFETY: (1) is (1) and the comparisons. (2) A barrier stands between writes and reads, and
    // an element of `y` belongs to one thread.
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

/// Reverses each part of `x` by way of a static array.
///
/// # Safety
/// 1. The launch has one dimension and blocks of [`PART`] threads that cover `x`, none of them
///    behind its end; `y` is as long.
#[kernel(max_threads = 256)]
pub unsafe fn memory_static_shared(x: Global<f32>, y: GlobalMut<f32>) {
    // SAFETY: (1) is (1).
    unsafe { reverse(x, y, shared_array![f32; PART].as_slice()) }
}

/// Reverses each part of `x` by way of the launch's dynamic shared memory.
///
/// # Safety
/// 1. The launch has one dimension and blocks of [`PART`] threads that cover `x`, none of them
///    behind its end, with 4 [`PART`] bytes of dynamic shared memory; `y` is as long.
#[kernel(max_threads = 256)]
pub unsafe fn memory_dynamic_shared(x: Global<f32>, y: GlobalMut<f32>) {
    // SAFETY: (1) is (1).
    unsafe { reverse(x, y, dynamic_shared![f32]) }
}

//! Launches that begin before the previous one has ended.
#![cfg_attr(
    target_arch = "nvptx64",
    allow(
        unused,
        reason = "an image for an older architecture has none of the kernels"
    )
)]

use cuda_std::dependent_launch;
use cuda_std::prelude::*;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// `y[i] = 3 x[n - 1 - i] + i`, from elements that other blocks of the previous launch have written.
///
/// # Safety
/// 1. `x` and `y` have a whole number of blocks of [`THREADS`] elements, and the launch a thread for each.
#[kernel(arch = "sm_90", max_threads = 256, dependent_launch)]
pub unsafe fn next_of_reversed(x: Global<u32>, y: GlobalMut<u32>) {
    dependent_launch::trigger();
    dependent_launch::wait();
    let i = thread::unique_index().get();
    // SAFETY: the lengths are the caller's contract. Only one thread writes the element.
    unsafe {
        let next = x.load(x.len() - 1 - i).wrapping_mul(3);
        y.store(i, next.wrapping_add(i as u32))
    };
}

//! Launches that begin while the kernel before them in the stream still runs (CUDA C++ Programming Guide,
//! "Programmatic Dependent Launch and Synchronization"), from compute capability 9.0 on.
//!
//! Between two kernels of a stream a GPU is idle for about a microsecond: it waits for the last block of the
//! first one, and then starts those of the second. A `#[kernel(arch = "sm_90", dependent_launch)]` starts its
//! blocks as soon as all of the kernel's before it have ended or called [`trigger`]. What needs nothing of that
//! kernel, such as the barriers of shared memory, stands before [`wait`]:
//!
//! ```
//! use cuda_std::dependent_launch;
//! use cuda_std::prelude::*;
//!
//! /// Adds the squares of `0..256` to the elements of `x`.
//! ///
//! /// # Safety
//! /// 1. The launch has blocks of 256 threads.
//! #[kernel(arch = "sm_90", max_threads = 256, dependent_launch)]
//! pub unsafe fn add_squares(x: GlobalMut<u32>) {
//!     let squares = shared_array!(u32; 256);
//!     let own = thread::thread_idx_x();
//!     // SAFETY: (1) by (1) there are so many. (2) Each thread writes and reads its own.
//!     unsafe { squares.store(own as usize, own * own) };
//!     // The kernel before may write `x` until here.
//!     dependent_launch::wait();
//!     dependent_launch::trigger();
//!     if let Some(x) = x.own(thread::unique_index()) {
//!         // SAFETY: as for the store.
//!         x.set(x.get() + unsafe { squares.load(own as usize) });
//!     }
//! }
//! ```

use crate::machine;

/// Waits until all kernels on which the launch depends have ended, and sees all that they have written.
///
/// Each thread of a kernel with `dependent_launch` makes the call, before it accesses global memory, or ends
/// without an access: the launch behind waits for this one alone, and is to find the ones before ended, too. In
/// other kernels it waits for nothing.
#[inline(always)]
#[track_caller]
pub fn wait() {
    machine::dependent_launch_wait();
}

/// Lets the next kernel of the stream begin, if it has `dependent_launch`, once all blocks have made the call
/// or ended: where multiprocessors have room for its blocks. Nothing becomes visible to it by that.
#[inline(always)]
pub fn trigger() {
    machine::dependent_launch_trigger();
}

//! Launches that start while the kernel before them in the stream still runs (CUDA C++ Programming Guide,
//! "Programmatic Dependent Launch and Synchronization"), from compute capability 9.0 on.
//!
//! Between two kernels of a stream a GPU is idle for about a microsecond: it waits for the first kernel's last block,
//! and then starts the second kernel's. A `#[kernel(arch = "sm_90", dependent_launch)]` starts its blocks as soon as
//! every block of the kernel before it has ended or called [`trigger`]. Put work that needs nothing from that kernel,
//! such as initialising barriers in shared memory, before [`wait`]:
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
//!     // SAFETY: the index is below 256: the caller's contract. Each thread accesses its own element.
//!     unsafe { squares.store(own as usize, own * own) };
//!     // The kernel before may write `x` until here.
//!     dependent_launch::wait();
//!     dependent_launch::trigger();
//!     if let Some(x) = x.own(thread::unique_index()) {
//!         // SAFETY: as for the store above, which wrote the element.
//!         x.set(x.get() + unsafe { squares.load(own as usize) });
//!     }
//! }
//! ```

use crate::machine;

/// Waits until all kernels that the launch depends on have ended, and makes their writes visible.
///
/// Every thread of a kernel with `dependent_launch` makes this call before it accesses global memory, and before it ends:
/// the next launch waits for this one alone, and relies on earlier launches having ended, too. In other kernels the call
/// waits for nothing.
#[inline(always)]
#[track_caller]
pub fn wait() {
    machine::dependent_launch_wait();
}

/// Lets the next kernel of the stream start, if it has `dependent_launch`.
///
/// It starts once every block has made this call or ended, on multiprocessors with room for its blocks. The call
/// makes no writes visible to it.
#[inline(always)]
pub fn trigger() {
    machine::dependent_launch_trigger();
}

//! The group of all threads of a launch.

use super::{Group, NotSend, sealed};
use crate::{machine, thread};
use core::marker::PhantomData;

/// The threads of the launch.
///
/// It is valid, and its threads can wait for each other, in a cooperative launch, which has all
/// blocks resident at once. A kernel with the attribute `cooperative` is launched in no other way.
/// Its first parameter is the grid, which the host does not pass:
///
/// ```
/// use cuda_std::cooperative_groups::{Group as _, GridGroup};
/// use cuda_std::prelude::*;
///
/// /// Doubles `x`, then makes each element the sum of itself and the next one.
/// ///
/// /// # Safety
/// /// 1. The launch has a thread for each element of `x`, and `sums` has as many.
/// #[kernel(cooperative)]
/// pub unsafe fn double_and_add(grid: GridGroup, x: GlobalMut<u32>, sums: GlobalMut<u32>) {
///     let (own, next) = (grid.thread_rank(), (grid.thread_rank() + 1) % grid.size());
///     // SAFETY: the elements exist: the caller's contract. The grid's barrier orders the writes
///     // before the reads.
///     unsafe {
///         x.store(own, 2 * x.load(own));
///         grid.sync();
///         sums.store(own, x.load(own) + x.load(next));
///     }
/// }
/// ```
///
/// The grid that [`this_grid`] returns is not valid.
#[derive(Clone, Debug)]
pub struct GridGroup {
    is_cooperative: bool,
    not_send: NotSend,
}

/// The grid of the calling thread, for its size and ranks. It is never valid: a valid grid is a
/// parameter of the kernel.
#[inline(always)]
#[must_use]
pub fn this_grid() -> GridGroup {
    GridGroup {
        is_cooperative: false,
        not_send: PhantomData,
    }
}

impl GridGroup {
    /// The grid of a cooperative launch. `#[kernel(cooperative)]` expands to this call.
    ///
    /// # Safety
    /// 1. The calling thread is one of a cooperative launch of a kernel of this module, and no
    ///    other cooperative launch of the module runs at the same time.
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    pub unsafe fn of_cooperative_launch() -> Self {
        Self {
            is_cooperative: true,
            not_send: PhantomData,
        }
    }

    /// The number of blocks in the grid.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn num_blocks(&self) -> usize {
        let (x, y, z) = self.dim_blocks();
        x as usize * y as usize * z as usize
    }

    /// The block's rank in the grid, x fastest ([`thread::block_rank`]).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn block_rank(&self) -> usize {
        thread::block_rank() as usize
    }

    /// The block's index in the grid: x, y and z (CUDA C++'s `blockIdx`).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn block_index(&self) -> (u32, u32, u32) {
        (
            thread::block_idx_x(),
            thread::block_idx_y(),
            thread::block_idx_z(),
        )
    }

    /// The grid's extent in blocks: x, y and z (CUDA C++'s `gridDim`).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn dim_blocks(&self) -> (u32, u32, u32) {
        (
            thread::grid_dim_x(),
            thread::grid_dim_y(),
            thread::grid_dim_z(),
        )
    }
}

impl sealed::Group for GridGroup {}

impl Group for GridGroup {
    #[inline(always)]
    #[track_caller]
    fn size(&self) -> usize {
        self.num_blocks() * thread::block_size() as usize
    }

    /// The rank in the launch, the same as [`thread::unique_index`].
    #[inline(always)]
    #[track_caller]
    fn thread_rank(&self) -> usize {
        self.block_rank() * thread::block_size() as usize + thread::rank_in_block() as usize
    }

    /// Whether the threads can wait for each other: true for the parameter of a
    /// `#[kernel(cooperative)]`.
    #[inline(always)]
    #[track_caller]
    fn is_valid(&self) -> bool {
        self.is_cooperative
    }

    /// Waits for every thread of every block. If the grid is not valid, the launch stops.
    ///
    /// One thread of each block arrives at a counter in global memory, and the last arrival
    /// releases all: about the latency of two atomic operations, with a block barrier on either
    /// side.
    #[inline(always)]
    #[track_caller]
    fn sync(&self) {
        assert!(
            self.is_cooperative,
            "a grid that is not valid cannot synchronise: its blocks need not run at the same time"
        );
        // SAFETY: the thread is in a cooperative launch, the module's only one: the contract of
        // `of_cooperative_launch`, which made the group.
        unsafe { machine::grid_barrier() };
    }
}

//! Cooperative groups as values: a function's signature states which threads must call it.
//!
//! Names and semantics follow CUDA C++'s `cooperative_groups`.
//!
//! | group | made by | its threads |
//! |---|---|---|
//! | [`ThreadBlock`] | [`this_thread_block`] | the block's |
//! | [`TiledPartition<SIZE>`](TiledPartition) | [`tiled_partition`] | `SIZE` neighbours within a warp |
//! | [`CoalescedGroup`] | [`coalesced_threads`] | converged lanes of a warp |
//! | [`GridGroup`] | [`this_grid`], and a cooperative kernel's parameter | the launch's |
//!
//! Each group has a size, ranks and a barrier ([`Group`]). Groups within a block also reduce and scan
//! ([`Collective`]), and copy to shared memory together ([`memcpy_async`], [`wait`]).
//!
//! A group is a witness that the calling thread belongs to it: it can neither be made up nor be passed to another
//! thread. Every thread of a group must make the same calls in the same order. Otherwise a GPU may wait for ever or
//! return unspecified values (but never access undefined memory), and the simulator reports the missing threads.
//!
//! ```
//! use cuda_std::cooperative_groups::{Collective as _, Group as _, this_thread_block, tiled_partition};
//! use cuda_std::prelude::*;
//!
//! /// Adds each block's part of `x` to `sum[0]`, with one atomic addition for each 16 threads.
//! ///
//! /// # Safety
//! /// 1. `sum` has an element.
//! #[kernel]
//! pub unsafe fn add_up(x: Global<u32>, sum: GlobalMut<u32>) {
//!     let tile = tiled_partition::<16>(&this_thread_block());
//!     let value = x.get(thread::unique_index().get()).unwrap_or(0);
//!     let of_tile = tile.reduce(value, |a, b| a + b);
//!     if tile.thread_rank() == 0 {
//!         // SAFETY: the element exists: the caller's contract. All accesses to it are atomic.
//!         unsafe { sum.atomic_add(0, of_tile) };
//!     }
//! }
//! ```

mod coalesced;
mod copy;
mod grid;
mod lanes;
mod scratch;
mod thread_block;
mod tile;

pub use coalesced::{CoalescedGroup, coalesced_threads};
pub use copy::{memcpy_async, wait};
pub use grid::{GridGroup, this_grid};
pub use thread_block::{ThreadBlock, this_thread_block};
pub use tile::{Partition, TiledPartition, tiled_partition};

use crate::warp::LaneValue;

/// A group of threads, to which the calling thread belongs. This crate alone implements it.
pub trait Group: sealed::Group {
    /// The number of threads in the group.
    #[track_caller]
    #[must_use]
    fn size(&self) -> usize;

    /// The calling thread's rank in the group, from 0 to [`size`](Self::size) - 1.
    #[track_caller]
    #[must_use]
    fn thread_rank(&self) -> usize;

    /// Whether the group's operations work. Each type documents when they do not.
    #[track_caller]
    #[must_use]
    fn is_valid(&self) -> bool;

    /// Waits for every thread of the group, and makes their earlier accesses of memory visible to
    /// one another.
    #[track_caller]
    fn sync(&self);
}

/// Reductions and scans of a group within a block. Every thread of the group makes the same call.
///
/// The order in which values are combined depends on the group's size alone, so equal values give
/// equal bits in every run. `combine` must be associative up to rounding.
pub trait Collective: Group {
    /// Combines the values of all threads. Every thread gets the result.
    ///
    /// Neighbours are combined first, then pairs of neighbours, and so on: a tree of height log2(size), rounded up.
    /// The threads agree only if `combine` is commutative.
    #[track_caller]
    #[must_use]
    fn reduce<T: LaneValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T;

    /// Combines the values of the ranks up to and including the calling thread's, in order.
    #[track_caller]
    #[must_use]
    fn inclusive_scan<T: LaneValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T;

    /// Combines the values of the ranks below the calling thread's, in order. Rank 0 gets
    /// `neutral`, which is not combined with anything.
    #[track_caller]
    #[must_use]
    fn exclusive_scan<T: LaneValue>(&self, value: T, neutral: T, combine: impl Fn(T, T) -> T) -> T;
}

mod sealed {
    pub trait Group {}
}

/// Makes a group neither `Send` nor `Sync`: a witness stays with its thread.
type NotSend = core::marker::PhantomData<*const ()>;

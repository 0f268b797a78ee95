//! Groups of threads that work together, as values: what a function may ask of its callers is in
//! its signature.
//!
//! A group is what CUDA C++'s `cooperative_groups` calls one, under the same names.
//!
//! | group | made by | its threads |
//! |---|---|---|
//! | [`ThreadBlock`] | [`this_thread_block`] | those of the block |
//! | [`TiledPartition<SIZE>`](TiledPartition) | [`tiled_partition`] | `SIZE` neighbours within a warp |
//! | [`CoalescedGroup`] | [`coalesced_threads`] | lanes of a warp that have come to one place together |
//! | [`GridGroup`] | [`this_grid`], and a cooperative kernel's parameter | those of the launch |
//!
//! Each group knows its size, its threads' ranks and its barrier ([`Group`]); those of a block and
//! below reduce and scan ([`Collective`]), and copy to shared memory together ([`memcpy_async`],
//! [`wait`]).
//!
//! A group is a witness that the calling thread belongs to it: it can neither be made up nor be
//! given to another thread. Whatever a group does, each of its threads must do, in the same order;
//! otherwise a GPU may wait for ever or give unspecified values (never undefined memory), and the
//! simulator reports the missing threads.
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
//!         // SAFETY: (1) is (1). (2) Nothing but this line touches the element.
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
    /// Threads of the group.
    #[track_caller]
    #[must_use]
    fn size(&self) -> usize;

    /// The calling thread's rank in the group, from 0 to [`size`](Self::size) - 1.
    #[track_caller]
    #[must_use]
    fn thread_rank(&self) -> usize;

    /// Whether the group can do what its type promises. Each type says when it cannot.
    #[track_caller]
    #[must_use]
    fn is_valid(&self) -> bool;

    /// Waits for every thread of the group, and makes their earlier accesses of memory visible to
    /// one another.
    #[track_caller]
    fn sync(&self);
}

/// A group within a block, whose threads compute something together. Every thread of the group makes the same
/// call.
///
/// The order in which values meet follows from the group's size alone, so that equal values give
/// equal bits in every run. `combine` must be associative up to rounding.
pub trait Collective: Group {
    /// `combine` over the values of all threads, in each of them: neighbours first, then pairs of
    /// them, and so on, a tree of height log2 of the size, rounded up. `combine` must be commutative
    /// for the threads to agree.
    #[track_caller]
    #[must_use]
    fn reduce<T: LaneValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T;

    /// `combine` over the values of the ranks up to the calling thread's, in their order, its own
    /// included.
    #[track_caller]
    #[must_use]
    fn inclusive_scan<T: LaneValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T;

    /// `combine` over the values of the ranks below the calling thread's, in their order; rank 0
    /// gets `neutral`, which is not combined with anything.
    #[track_caller]
    #[must_use]
    fn exclusive_scan<T: LaneValue>(&self, value: T, neutral: T, combine: impl Fn(T, T) -> T) -> T;
}

mod sealed {
    pub trait Group {}
}

/// What makes a group neither `Send` nor `Sync`: a witness stays with its thread.
type NotSend = core::marker::PhantomData<*const ()>;

//! The group of all threads of a block.

use super::lanes::Lanes;
use super::scratch::Scratch;
use super::{Collective, Group, NotSend, sealed};
use crate::thread::{self, sync_threads};
use crate::warp::{self, LaneValue};
use core::marker::PhantomData;

/// The threads of the calling thread's block, of any size and shape. It is always valid.
///
/// Its collectives meet at two barriers, in 512 bytes of shared memory of their own; a block of one
/// warp needs neither.
#[derive(Clone, Debug)]
pub struct ThreadBlock {
    not_send: NotSend,
}

/// The block of the calling thread.
#[inline(always)]
#[must_use]
pub fn this_thread_block() -> ThreadBlock {
    ThreadBlock {
        not_send: PhantomData,
    }
}

impl ThreadBlock {
    /// The block's index in the grid: x, y and z (CUDA C++'s `blockIdx`).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn group_index(&self) -> (u32, u32, u32) {
        (
            thread::block_idx_x(),
            thread::block_idx_y(),
            thread::block_idx_z(),
        )
    }

    /// The thread's index in the block: x, y and z (CUDA C++'s `threadIdx`).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn thread_index(&self) -> (u32, u32, u32) {
        (
            thread::thread_idx_x(),
            thread::thread_idx_y(),
            thread::thread_idx_z(),
        )
    }

    /// The block's extent in threads: x, y and z (CUDA C++'s `blockDim`).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn dim_threads(&self) -> (u32, u32, u32) {
        (
            thread::block_dim_x(),
            thread::block_dim_y(),
            thread::block_dim_z(),
        )
    }
}

impl sealed::Group for ThreadBlock {}

impl Group for ThreadBlock {
    #[inline(always)]
    #[track_caller]
    fn size(&self) -> usize {
        thread::block_size() as usize
    }

    /// The rank in the block, x fastest ([`thread::rank_in_block`]).
    #[inline(always)]
    #[track_caller]
    fn thread_rank(&self) -> usize {
        thread::rank_in_block() as usize
    }

    #[inline(always)]
    #[track_caller]
    fn is_valid(&self) -> bool {
        true
    }

    /// [`sync_threads`].
    #[inline(always)]
    #[track_caller]
    fn sync(&self) {
        sync_threads();
    }
}

/// A thread in the warps of its block.
#[derive(Clone, Copy)]
struct Place {
    /// The lanes of its warp; the last warp of a block may have fewer than others.
    lanes: Lanes,
    warp: u32,
    warps: u32,
}

impl Place {
    #[inline(always)]
    #[track_caller]
    fn of_thread() -> Self {
        let (width, lane) = (warp::width(), warp::lane());
        let (rank, size) = (thread::rank_in_block(), thread::block_size());
        let first_of_warp = rank - lane;
        Self {
            lanes: Lanes {
                width,
                size: width.min(size - first_of_warp),
                rank: lane,
            },
            warp: rank / width,
            warps: size.div_ceil(width),
        }
    }

    #[inline(always)]
    fn is_last_lane(self) -> bool {
        self.lanes.rank + 1 == self.lanes.size
    }

    /// In the first warp, a lane for each warp of the block; none for other threads.
    #[inline(always)]
    fn lane_for_warp(self) -> Option<Lanes> {
        // A block of several warps fills the first one, and has no more warps than that has lanes.
        let is_such = self.warp == 0 && self.lanes.rank < self.warps;
        is_such.then_some(Lanes {
            size: self.warps,
            ..self.lanes
        })
    }
}

impl Collective for ThreadBlock {
    #[inline(always)]
    #[track_caller]
    fn reduce<T: LaneValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T {
        let place = Place::of_thread();
        let of_warp = place.lanes.reduce(value, &combine);
        if place.warps == 1 {
            return of_warp;
        }
        // SAFETY: (1) it is a variable of this thread.
        let scratch = unsafe { Scratch::of_block() };
        if place.lanes.rank == 0 {
            // SAFETY: (1) one lane of each warp. (2) The first warp's reads of an earlier
            // collective came before that one's last barrier.
            unsafe { scratch.set_value(place.warp, of_warp) };
        }
        sync_threads();
        if let Some(lanes) = place.lane_for_warp() {
            // SAFETY: (1) each warp has written before the barrier.
            let of_warp = unsafe { scratch.value(lanes.rank) };
            let of_block = lanes.reduce(of_warp, combine);
            if lanes.rank == 0 {
                // SAFETY: (1) one thread. (2) All have passed the barrier, behind what they read.
                unsafe { scratch.set_result(0, of_block) };
            }
        }
        sync_threads();
        // SAFETY: (1) written before the barrier.
        unsafe { scratch.result(0) }
    }

    #[inline(always)]
    #[track_caller]
    fn inclusive_scan<T: LaneValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T {
        let place = Place::of_thread();
        let in_warp = place.lanes.inclusive_scan(value, &combine);
        // Not `map_or`: a closure would be the place that the simulator reports.
        match before_warp(place, in_warp, &combine) {
            Some(before) => combine(before, in_warp),
            None => in_warp,
        }
    }

    #[inline(always)]
    #[track_caller]
    fn exclusive_scan<T: LaneValue>(&self, value: T, neutral: T, combine: impl Fn(T, T) -> T) -> T {
        let place = Place::of_thread();
        let in_warp = place.lanes.inclusive_scan(value, &combine);
        let below = place.lanes.shift_up(in_warp, neutral);
        match before_warp(place, in_warp, &combine) {
            Some(before) if place.lanes.rank == 0 => before,
            Some(before) => combine(before, below),
            None => below,
        }
    }
}

/// `combine` over all warps before the thread's own; none for the first warp. `in_warp` is the
/// inclusive scan of the thread's warp. Every thread of the block calls it.
#[inline(always)]
#[track_caller]
fn before_warp<T: LaneValue>(place: Place, in_warp: T, combine: impl Fn(T, T) -> T) -> Option<T> {
    if place.warps == 1 {
        return None;
    }
    // SAFETY: (1) it is a variable of this thread.
    let scratch = unsafe { Scratch::of_block() };
    if place.is_last_lane() {
        // SAFETY: (1) one lane of each warp. (2) The first warp's reads of an earlier collective
        // came before that one's last barrier.
        unsafe { scratch.set_value(place.warp, in_warp) };
    }
    sync_threads();
    if let Some(lanes) = place.lane_for_warp() {
        // SAFETY: (1) each warp has written before the barrier.
        let of_warp = unsafe { scratch.value(lanes.rank) };
        let up_to_warp = lanes.inclusive_scan(of_warp, combine);
        // SAFETY: (1) one lane for each warp. (2) All have passed the barrier, behind what they
        // read.
        unsafe { scratch.set_result(lanes.rank, up_to_warp) };
    }
    sync_threads();
    if place.warp == 0 {
        return None;
    }
    // SAFETY: (1) written before the barrier, for each warp.
    Some(unsafe { scratch.result(place.warp - 1) })
}

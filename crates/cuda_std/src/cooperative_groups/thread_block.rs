//! The group of all threads of a block.

use super::lanes::Lanes;
use super::scratch::Scratch;
use super::{Collective, Group, NotSend, sealed};
use crate::thread::{self, sync_threads};
use crate::warp::{self, LaneValue};
use core::marker::PhantomData;

/// The threads of the calling thread's block, of any size and shape. It is always valid.
///
/// Its collectives take two barriers and 512 bytes of shared memory; a block of one warp needs
/// neither.
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

/// The position of a thread in its block's warps.
#[derive(Clone, Copy)]
struct Place {
    /// The lanes of its warp. The last warp of a block may have fewer.
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
        // In a block of several warps the first is full, and has at least as many lanes as the
        // block has warps.
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
        // SAFETY: it is a local variable of a thread of the block.
        let scratch = unsafe { Scratch::of_block() };
        if place.lanes.rank == 0 {
            // SAFETY: `warp < MAX_WARPS`, and one lane of each warp writes. The first warp read
            // earlier values before the last barrier of the earlier collective.
            unsafe { scratch.set_value(place.warp, of_warp) };
        }
        sync_threads();
        if let Some(lanes) = place.lane_for_warp() {
            // SAFETY: the warp exists, and wrote its value before the barrier.
            let of_warp = unsafe { scratch.value(lanes.rank) };
            let of_block = lanes.reduce(of_warp, combine);
            if lanes.rank == 0 {
                // SAFETY: one thread writes. All threads read the earlier results before they
                // reached the barrier.
                unsafe { scratch.set_result(0, of_block) };
            }
        }
        sync_threads();
        // SAFETY: the first thread wrote the result before the barrier.
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

/// Combines the values of all warps before the thread's own; `None` in the first warp. `in_warp` is
/// the inclusive scan within the thread's warp. Every thread of the block calls it.
#[inline(always)]
#[track_caller]
fn before_warp<T: LaneValue>(place: Place, in_warp: T, combine: impl Fn(T, T) -> T) -> Option<T> {
    if place.warps == 1 {
        return None;
    }
    // SAFETY: it is a local variable of a thread of the block.
    let scratch = unsafe { Scratch::of_block() };
    if place.is_last_lane() {
        // SAFETY: `warp < MAX_WARPS`, and one lane of each warp writes. The first warp read earlier
        // values before the last barrier of the earlier collective.
        unsafe { scratch.set_value(place.warp, in_warp) };
    }
    sync_threads();
    if let Some(lanes) = place.lane_for_warp() {
        // SAFETY: the warp exists, and wrote its value before the barrier.
        let of_warp = unsafe { scratch.value(lanes.rank) };
        let up_to_warp = lanes.inclusive_scan(of_warp, combine);
        // SAFETY: one lane writes for each warp. All threads read the earlier results before they
        // reached the barrier.
        unsafe { scratch.set_result(lanes.rank, up_to_warp) };
    }
    sync_threads();
    if place.warp == 0 {
        return None;
    }
    // SAFETY: the first warp wrote a result for each warp before the barrier.
    Some(unsafe { scratch.result(place.warp - 1) })
}

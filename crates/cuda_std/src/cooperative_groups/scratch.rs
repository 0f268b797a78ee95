//! The shared memory in which the warps of a block meet.

use crate::__shared_storage;
use crate::block::MAX_WARPS;
use crate::shared::{SharedArray, SharedMemory};
use crate::warp::LaneValue;

/// A value from each warp of the block, and a value for each.
///
/// Every collective of the block uses it in the same way, so that two barriers are enough: warps
/// write their values, barrier, the first warp reads those and writes the results, barrier, all
/// read results. Values of the next collective are written elsewhere than results, and the first
/// warp writes results again only after a barrier that all of their readers have reached.
#[derive(Clone, Copy)]
pub struct Scratch<'block> {
    /// Bits of values, then of results.
    words: SharedArray<'block, u64, { 2 * MAX_WARPS }>,
}

impl Scratch<'_> {
    /// The block's own: 512 bytes, in kernels that use it.
    ///
    /// # Safety
    /// 1. The result is used by a thread of the block alone, and not kept.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn of_block() -> Self {
        let base = __shared_storage!(u64, 2 * MAX_WARPS);
        // SAFETY: (1) the storage was made for exactly this array. (2) is (1).
        let memory = unsafe { SharedMemory::of_array(base) };
        Self {
            words: SharedArray::of_memory(memory),
        }
    }

    /// Writes the value of warp `warp`.
    ///
    /// # Safety
    /// 1. `warp < MAX_WARPS`, and no other thread writes this warp's value.
    /// 2. The first warp does not read values, of this collective or of one before.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn set_value<T: LaneValue>(self, warp: u32, value: T) {
        // SAFETY: (1), (2) are the caller's.
        unsafe { self.words.store(warp as usize, value.to_lane_bits()) }
    }

    /// The value of warp `warp`.
    ///
    /// # Safety
    /// 1. `warp < MAX_WARPS`, and the warp has written its value before a barrier.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn value<T: LaneValue>(self, warp: u32) -> T {
        // SAFETY: (1) is the caller's. (2) is the barrier.
        T::from_lane_bits(unsafe { self.words.load(warp as usize) })
    }

    /// Writes the result for warp `warp`.
    ///
    /// # Safety
    /// 1. `warp < MAX_WARPS`, and no other thread writes this warp's result.
    /// 2. No thread reads results: not of this collective yet, and of none before any more.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn set_result<T: LaneValue>(self, warp: u32, result: T) {
        let index = MAX_WARPS + warp as usize;
        // SAFETY: (1), (2) are the caller's.
        unsafe { self.words.store(index, result.to_lane_bits()) }
    }

    /// The result for warp `warp`.
    ///
    /// # Safety
    /// 1. `warp < MAX_WARPS`, and its result has been written before a barrier.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn result<T: LaneValue>(self, warp: u32) -> T {
        // SAFETY: (1) is the caller's. (2) is the barrier.
        T::from_lane_bits(unsafe { self.words.load(MAX_WARPS + warp as usize) })
    }
}

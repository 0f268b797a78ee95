//! Shared memory for the collectives of a block.

use crate::__shared_storage;
use crate::block::MAX_WARPS;
use crate::machine::{AtomicInteger as _, AtomicSpace, MemoryOrder, MemoryScope, Ordering};
use crate::shared::{SharedArray, SharedMemory};
use crate::warp::LaneValue;

/// A value from each warp of the block, and a result for each.
///
/// Every collective of the block uses it the same way, so two barriers are enough. Warps write
/// their values; barrier; the first warp reads them and writes the results; barrier; all warps read
/// the results. The next collective's values do not overlap the results, and the first warp writes
/// results again only after a barrier that all of their readers have reached.
#[derive(Clone, Copy)]
pub struct Scratch<'block> {
    /// The bits of the values, then of the results.
    words: SharedArray<'block, u64, { 2 * MAX_WARPS }>,
}

/// Of accesses on a GPU, where threads that have diverged may race with one another.
const RELAXED: Ordering = Some((MemoryOrder::Relaxed, MemoryScope::Block));

impl Scratch<'_> {
    /// The block's scratch: 512 bytes, in kernels that use it.
    ///
    /// # Safety
    /// 1. Only a thread of the block uses the result, and it does not outlive the launch.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn of_block() -> Self {
        let base = __shared_storage!(u64, 2 * MAX_WARPS);
        // SAFETY: the storage was declared for this array. Only threads of the block use it: the
        // caller's contract.
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
        // SAFETY: the index is in range and no access conflicts: the caller's contract.
        unsafe { self.store(warp as usize, value.to_lane_bits()) }
    }

    /// The value of warp `warp`.
    ///
    /// # Safety
    /// 1. `warp < MAX_WARPS`, and the warp has written its value before a barrier.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn value<T: LaneValue>(self, warp: u32) -> T {
        // SAFETY: the element is in range and was written before a barrier: the caller's contract.
        T::from_lane_bits(unsafe { self.load(warp as usize) })
    }

    /// Writes the result for warp `warp`.
    ///
    /// # Safety
    /// 1. `warp < MAX_WARPS`, and no other thread writes this warp's result.
    /// 2. No thread reads results at this time, neither this collective's nor an earlier one's.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn set_result<T: LaneValue>(self, warp: u32, result: T) {
        let index = MAX_WARPS + warp as usize;
        // SAFETY: the index is in range and no access conflicts: the caller's contract.
        unsafe { self.store(index, result.to_lane_bits()) }
    }

    /// The result for warp `warp`.
    ///
    /// # Safety
    /// 1. `warp < MAX_WARPS`, and its result has been written before a barrier.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn result<T: LaneValue>(self, warp: u32) -> T {
        // SAFETY: the element is in range and was written before a barrier: the caller's contract.
        T::from_lane_bits(unsafe { self.load(MAX_WARPS + warp as usize) })
    }

    /// Word `index`. The simulator reports a thread that writes it meanwhile.
    ///
    /// # Safety
    /// 1. `index < 2 * MAX_WARPS`, and the word has been written before a barrier.
    #[inline(always)]
    #[track_caller]
    unsafe fn load(self, index: usize) -> u64 {
        let (base, len) = (self.words.as_mut_ptr(), self.words.len());
        // SAFETY: the element is in range and was written before a barrier: the caller's contract. It is the block's
        // own memory, whose accesses are all relaxed on a GPU.
        unsafe {
            if cfg!(target_arch = "nvptx64") {
                u64::load(RELAXED, AtomicSpace::Shared, base, len, index)
            } else {
                self.words.load(index)
            }
        }
    }

    /// Writes word `index`. The simulator reports a thread that accesses it meanwhile.
    ///
    /// # Safety
    /// 1. `index < 2 * MAX_WARPS`.
    /// 2. No other thread accesses the word, unless a barrier orders the two or threads have diverged.
    #[inline(always)]
    #[track_caller]
    unsafe fn store(self, index: usize, word: u64) {
        let (base, len) = (self.words.as_mut_ptr(), self.words.len());
        // SAFETY: the index is in range and no access conflicts: the caller's contract. It is the block's own memory,
        // whose accesses are all relaxed on a GPU.
        unsafe {
            if cfg!(target_arch = "nvptx64") {
                u64::store(RELAXED, AtomicSpace::Shared, base, len, index, word);
            } else {
                self.words.store(index, word);
            }
        }
    }
}

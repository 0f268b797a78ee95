//! The layout of prefetched values in shared memory.

use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// A layout of the slots of a block's threads.
///
/// Slot s of thread t is element `t * thread_pitch + s * slot_pitch`.
///
/// Lanes of a warp read the same slot, so `thread_pitch` determines bank conflicts. An 8-byte
/// access takes at least two passes, one for each half of the warp. With a `thread_pitch` of p,
/// lanes 16 / gcd(p, 16) apart share a pair of banks: gcd(p, 16) passes for each half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// Elements from a thread's slot to the same slot of the next thread.
    pub thread_pitch: u32,
    /// Elements from a thread's slot to its next one.
    pub slot_pitch: u32,
    /// Elements in all slots.
    pub elements: u32,
}

impl Slots {
    /// Thread after thread, the article's first layout: conflicts at every even distance, up to 16
    /// passes instead of one.
    #[must_use]
    pub const fn unpadded(distance: u32, block_threads: u32) -> Self {
        Self::by_thread(distance, block_threads)
    }

    /// Thread after thread with padding, the article's second layout: distance plus padding is a
    /// power of two plus one. That is odd, so there are no conflicts.
    #[must_use]
    pub const fn padded(distance: u32, block_threads: u32) -> Self {
        // At least 2: a single slot plus one would be even.
        let rest = if distance < 3 { 2 } else { distance - 1 };
        Self::by_thread(rest.next_power_of_two() + 1, block_threads)
    }

    /// Slot after slot, the article's exercise: neighbouring threads have neighbouring elements, so
    /// there are no conflicts and no padding.
    #[must_use]
    pub const fn transposed(distance: u32, block_threads: u32) -> Self {
        Self {
            thread_pitch: 1,
            slot_pitch: block_threads,
            elements: distance * block_threads,
        }
    }

    const fn by_thread(thread_pitch: u32, block_threads: u32) -> Self {
        Self {
            thread_pitch,
            slot_pitch: 1,
            elements: thread_pitch * block_threads,
        }
    }
}

/// The slots of the calling thread. No other thread accesses them.
#[derive(Clone, Copy)]
pub(super) struct OwnSlots<'block> {
    memory: SharedSlice<'block, f64>,
    first: u32,
    pitch: u32,
}

impl<'block> OwnSlots<'block> {
    /// The calling thread's slots in `memory`, the block's dynamic shared memory.
    #[inline(always)]
    pub(super) fn of_thread(
        memory: SharedSlice<'block, f64>,
        thread_pitch: u32,
        slot_pitch: u32,
    ) -> Self {
        Self {
            memory,
            first: thread::thread_idx_x() * thread_pitch,
            pitch: slot_pitch,
        }
    }

    /// All of the block's slots.
    #[inline(always)]
    pub(super) const fn memory(&self) -> SharedSlice<'block, f64> {
        self.memory
    }

    /// The index of the thread's slot among the block's.
    #[inline(always)]
    pub(super) const fn position(&self, slot: u32) -> usize {
        (self.first + slot * self.pitch) as usize
    }

    /// The value in `slot`.
    ///
    /// # Safety
    /// 1. The launch gave the block memory for the slot, which no other thread's slot overlaps.
    /// 2. This thread has filled it.
    #[inline(always)]
    #[track_caller]
    pub(super) unsafe fn get(&self, slot: u32) -> f64 {
        // SAFETY: the slot is in the block's memory, was filled, and belongs to this thread: the
        // caller's contract.
        unsafe { self.memory.load(self.position(slot)) }
    }

    /// Puts `value` into `slot`.
    ///
    /// # Safety
    /// 1. The launch gave the block memory for the slot, which no other thread's slot overlaps.
    #[inline(always)]
    #[track_caller]
    pub(super) unsafe fn set(&self, slot: u32, value: f64) {
        // SAFETY: the slot is in the block's memory, and belongs to this thread: the caller's
        // contract.
        unsafe { self.memory.store(self.position(slot), value) }
    }
}

/// The slot after `slot` in a ring of `distance` slots.
#[inline(always)]
pub(super) const fn next_slot(slot: u32, distance: u32) -> u32 {
    if slot + 1 == distance { 0 } else { slot + 1 }
}

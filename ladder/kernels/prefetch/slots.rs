//! Where in shared memory a thread's prefetched values stand.

use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// How the slots of a block's threads lie in shared memory, in elements: slot s of thread t stands
/// at `t * thread_pitch + s * slot_pitch`.
///
/// Lanes of a warp read the same slot, so `thread_pitch` decides about bank conflicts. A warp's
/// access of 8 bytes for each lane takes two passes at best, one for each half of the warp. With
/// a `thread_pitch` of p, lanes 16 / gcd(p, 16) apart share a pair of banks: gcd(p, 16)
/// passes for each half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// Elements from a thread's slot to the same slot of the next thread.
    pub thread_pitch: u32,
    /// Elements from a thread's slot to its next one.
    pub slot_pitch: u32,
    /// Elements of all slots.
    pub elements: u32,
}

impl Slots {
    /// Thread after thread, the first layout of the article: conflicts at each even distance, up
    /// to 16 passes instead of one.
    #[must_use]
    pub const fn unpadded(distance: u32, block_threads: u32) -> Self {
        Self::by_thread(distance, block_threads)
    }

    /// Thread after thread, with room between them, the second layout: distance and padding
    /// together are a power of two and one more. That is odd, so there are no conflicts.
    #[must_use]
    pub const fn padded(distance: u32, block_threads: u32) -> Self {
        // At least 2: one thread's single slot and one more would be even.
        let rest = if distance < 3 { 2 } else { distance - 1 };
        Self::by_thread(rest.next_power_of_two() + 1, block_threads)
    }

    /// Slot after slot, the article's exercise: neighbouring threads have neighbouring elements,
    /// so there are no conflicts, and no room is lost.
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

/// The slots of the calling thread. No other thread touches them.
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

    /// Where among the block's slots this one of the thread stands.
    #[inline(always)]
    pub(super) const fn position(&self, slot: u32) -> usize {
        (self.first + slot * self.pitch) as usize
    }

    /// The value in `slot`.
    ///
    /// # Safety
    /// 1. The launch gave the block memory for the slot, and none for another thread at the same
    ///    place.
    /// 2. This thread has filled it.
    #[inline(always)]
    #[track_caller]
    pub(super) unsafe fn get(&self, slot: u32) -> f64 {
        // SAFETY: (1) is (1) and (2). (2) is (1): the thread's own.
        unsafe { self.memory.load(self.position(slot)) }
    }

    /// Puts `value` into `slot`.
    ///
    /// # Safety
    /// 1. The launch gave the block memory for the slot, and none for another thread at the same
    ///    place.
    #[inline(always)]
    #[track_caller]
    pub(super) unsafe fn set(&self, slot: u32, value: f64) {
        // SAFETY: (1) and (2) are (1).
        unsafe { self.memory.store(self.position(slot), value) }
    }
}

/// The slot after `slot` in a ring of `distance` slots.
#[inline(always)]
pub(super) const fn next_slot(slot: u32, distance: u32) -> u32 {
    if slot + 1 == distance { 0 } else { slot + 1 }
}

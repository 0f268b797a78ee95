//! What the blocks of a scan tell each other.
//!
//! A value travels in words of 64 bits that hold 32 bits of it and a mark that they are there. A word
//! is read and written at once, so no fence orders a value and its mark.

use super::plan::{ScanPlan, TICKET_WORDS};
use super::summand::Summand;
use cuda_std::prelude::*;

/// The mark of a word that has been written.
const WRITTEN: u64 = 1 << 32;

/// The ticket, the sum of each tile, and the sum of all that comes before each group.
#[derive(Clone, Copy)]
pub struct State<'launch> {
    words: GlobalMut<'launch, u64>,
    plan: ScanPlan,
}

impl<'launch> State<'launch> {
    /// # Safety
    /// 1. The words are `plan.state_words()`, 0 when the launch starts, and the launch has them for
    ///    itself.
    #[inline(always)]
    pub unsafe fn new(words: GlobalMut<'launch, u64>, plan: ScanPlan) -> Self {
        Self { words, plan }
    }

    /// A number that no other call of the launch returns, from 0 on: the blocks with lower ones have
    /// started.
    #[inline(always)]
    pub fn take_ticket(self) -> u32 {
        // SAFETY: (1) there is one, by (1) of `new`. (2) It is touched by atomics alone.
        unsafe { self.words.atomic_add(0, 1) as u32 }
    }

    /// Tells the blocks the sum of a tile.
    ///
    /// # Safety
    /// 1. There is such a tile.
    #[inline(always)]
    pub unsafe fn publish_tile<T: Summand>(self, tile: usize, sum: T) {
        // SAFETY: (1) is (1).
        unsafe { self.publish(TICKET_WORDS + tile * T::WORDS, sum) }
    }

    /// Waits for the sum of a tile.
    ///
    /// # Safety
    /// 1. There is such a tile, and a block that has started publishes its sum.
    #[inline(always)]
    pub unsafe fn wait_for_tile<T: Summand>(self, tile: usize) -> T {
        // SAFETY: (1) is (1).
        unsafe { self.wait(TICKET_WORDS + tile * T::WORDS) }
    }

    /// Tells the blocks the sum of all elements before a group.
    ///
    /// # Safety
    /// 1. There is such a group.
    #[inline(always)]
    pub unsafe fn publish_group<T: Summand>(self, group: usize, prefix: T) {
        // SAFETY: (1) is (1).
        unsafe { self.publish(self.plan.first_group_word() + group * T::WORDS, prefix) }
    }

    /// Waits for the sum of all elements before a group.
    ///
    /// # Safety
    /// 1. There is such a group, and a block that has started publishes its prefix.
    #[inline(always)]
    pub unsafe fn wait_for_group<T: Summand>(self, group: usize) -> T {
        // SAFETY: (1) is (1).
        unsafe { self.wait(self.plan.first_group_word() + group * T::WORDS) }
    }

    /// # Safety
    /// 1. The words from `first` on are those of a value.
    #[inline(always)]
    unsafe fn publish<T: Summand>(self, first: usize, value: T) {
        let bits = value.to_lane_bits();
        let mut number = 0;
        while number < T::WORDS {
            let half = (bits >> (32 * number)) & u64::from(u32::MAX);
            // SAFETY: (1) is (1). (2) They are touched by atomics alone.
            unsafe { self.words.atomic_store(first + number, WRITTEN | half) };
            number += 1;
        }
    }

    /// # Safety
    /// 1. The words from `first` on are those of a value, which a block that has started publishes.
    #[inline(always)]
    unsafe fn wait<T: Summand>(self, first: usize) -> T {
        let mut bits = 0;
        let mut number = 0;
        while number < T::WORDS {
            // SAFETY: (1) is (1). (2) They are touched by atomics alone.
            let mut word = unsafe { self.words.atomic_load(first + number) };
            while word & WRITTEN == 0 {
                thread::yield_now();
                // SAFETY: as above.
                word = unsafe { self.words.atomic_load(first + number) };
            }
            bits |= (word & u64::from(u32::MAX)) << (32 * number);
            number += 1;
        }
        T::from_lane_bits(bits)
    }
}

//! What the blocks of a scan tell each other.
//!
//! A value travels in words of 64 bits that hold 32 bits of it and a mark that they are there. A word
//! is read and written at once, so no fence orders a value and its mark.

use super::element::ScanElement;
use super::plan::{ScanPlan, TICKET_WORDS};
use cuda_std::prelude::*;

/// The mark of a word that has been written.
const WRITTEN: u64 = 1 << 32;

/// A sum in the state.
#[derive(Clone, Copy)]
pub struct Place {
    /// Its first word.
    word: usize,
}

/// The ticket, the sums of tiles and of groups, and the sum of all that comes before each span.
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

    /// The sum of a tile, as the blocks tell each other.
    #[inline(always)]
    pub fn of_tile<T: ScanElement>(self, tile: usize) -> Place {
        Place {
            word: TICKET_WORDS + tile * T::WORDS,
        }
    }

    /// The sum of a group.
    #[inline(always)]
    pub fn of_group<T: ScanElement>(self, group: usize) -> Place {
        Place {
            word: self.plan.first_group_word() + group * T::WORDS,
        }
    }

    /// The sum of all before a span.
    #[inline(always)]
    pub fn before_span<T: ScanElement>(self, span: usize) -> Place {
        Place {
            word: self.plan.first_span_word() + span * T::WORDS,
        }
    }

    /// Tells the blocks a sum.
    ///
    /// # Safety
    /// 1. There is such a tile, group or span.
    #[inline(always)]
    pub unsafe fn publish<T: ScanElement>(self, place: Place, sum: T) {
        let bits = sum.to_lane_bits();
        let mut number = 0;
        while number < T::WORDS {
            let half = (bits >> (32 * number)) & u64::from(u32::MAX);
            // SAFETY: (1) is (1). (2) They are touched by atomics alone.
            unsafe { self.words.atomic_store(place.word + number, WRITTEN | half) };
            number += 1;
        }
    }

    /// Waits for a sum.
    ///
    /// # Safety
    /// 1. There is such a tile, group or span, and a block that has started publishes its sum.
    #[inline(always)]
    pub unsafe fn wait_for<T: ScanElement>(self, place: Place) -> T {
        loop {
            let (mut bits, mut marks) = (0, WRITTEN);
            let mut number = 0;
            while number < T::WORDS {
                // SAFETY: (1) is (1). (2) They are touched by atomics alone.
                let word = unsafe { self.words.atomic_load(place.word + number) };
                bits |= (word & u64::from(u32::MAX)) << (32 * number);
                marks &= word;
                number += 1;
            }
            if marks != 0 {
                return T::from_lane_bits(bits);
            }
            thread::yield_now();
        }
    }
}

//! Communication between the blocks of a scan.
//!
//! A value is published in 64-bit words, each with 32 of its bits and a flag that they are valid. A word is read and
//! written at once, so no fence is needed between value and flag.

use super::plan::{ScanPlan, TICKET_WORDS};
use super::value::ScanValue;
use cuda_std::prelude::*;

/// The flag of a valid word.
const WRITTEN: u64 = 1 << 32;

/// Words of the largest value.
const MOST_WORDS: usize = 24;

/// The position of a sum in the state.
#[derive(Clone, Copy)]
pub struct Place {
    /// Its first word.
    word: usize,
}

/// The ticket, the sums of tiles and groups, and the prefix of each span.
#[derive(Clone, Copy)]
pub struct State<'launch> {
    words: GlobalMut<'launch, u64>,
    plan: ScanPlan,
    /// The first word of the calling block's row.
    first: usize,
}

impl<'launch> State<'launch> {
    /// # Safety
    /// 1. There are `plan.state_words()` words, 0 when the launch starts, and only this launch uses
    ///    them.
    #[inline(always)]
    pub unsafe fn new(words: GlobalMut<'launch, u64>, plan: ScanPlan) -> Self {
        Self {
            words,
            plan,
            first: 0,
        }
    }

    /// The state of a row of a matrix, with the ticket of the first.
    ///
    /// # Safety
    /// 1. There are `plan.state_words()` words for each row up to it.
    #[inline(always)]
    pub unsafe fn of_row(self, row: usize) -> Self {
        Self {
            first: row * self.plan.state_words(),
            ..self
        }
    }

    /// The state of a line of another plan, from word `first` on, with the same ticket.
    ///
    /// # Safety
    /// 1. There are `plan.state_words()` words from `first` on.
    #[inline(always)]
    pub unsafe fn of_line(self, plan: ScanPlan, first: usize) -> Self {
        Self {
            plan,
            first,
            ..self
        }
    }

    /// Takes the next number, from 0. Blocks with lower numbers have started.
    #[inline(always)]
    pub fn take_ticket(self) -> u32 {
        // SAFETY: the state has a ticket: the contract of `new`. All its accesses are atomic.
        unsafe { self.words.atomic_add(0, 1) as u32 }
    }

    /// The sum of a tile.
    #[inline(always)]
    pub fn of_tile<T: ScanValue>(self, tile: usize) -> Place {
        Place {
            word: self.first + TICKET_WORDS + tile * T::WORDS,
        }
    }

    /// The sum of a group.
    #[inline(always)]
    pub fn of_group<T: ScanValue>(self, group: usize) -> Place {
        Place {
            word: self.first + self.plan.first_group_word() + group * T::WORDS,
        }
    }

    /// The prefix of a span: the sum of everything before it.
    #[inline(always)]
    pub fn before_span<T: ScanValue>(self, span: usize) -> Place {
        Place {
            word: self.first + self.plan.first_span_word() + span * T::WORDS,
        }
    }

    /// Publishes a sum to the other blocks.
    ///
    /// # Safety
    /// 1. The scan has the tile, group or span.
    #[inline(always)]
    pub unsafe fn publish<T: ScanValue>(self, place: Place, sum: T) {
        let mut number = 0;
        while number < T::WORDS {
            let half = u64::from(sum.to_word(number));
            // SAFETY: the state has the words: the caller's contract. All their accesses are
            // atomic.
            unsafe { self.words.atomic_store(place.word + number, WRITTEN | half) };
            number += 1;
        }
    }

    /// Waits for a sum.
    ///
    /// # Safety
    /// 1. The scan has the tile, group or span, and a block that has started publishes its sum.
    #[inline(always)]
    pub unsafe fn wait_for<T: ScanValue>(self, place: Place) -> T {
        const {
            assert!(
                T::WORDS <= MOST_WORDS,
                "an accumulator of a scan has at most 24 numbers of 32 bits or less, or 12 of 64"
            );
        }
        loop {
            let mut marks = WRITTEN;
            let mut words = [0; MOST_WORDS];
            let mut number = 0;
            while number < T::WORDS {
                // SAFETY: the state has the words: the caller's contract. All their accesses are
                // atomic.
                let word = unsafe { self.words.atomic_load(place.word + number) };
                words[number] = word as u32;
                marks &= word;
                number += 1;
            }
            if marks != 0 {
                return T::of_words(|number| words[number]);
            }
            thread::yield_now();
        }
    }
}

//! Rounds of loops, for the counters: lanes share a request only in the same round.

use crate::count::{Round, round_within};
use crate::current::try_instruction;
use crate::state::is_counting;
use std::panic::Location;

/// A loop that the running thread executes, for the counters.
///
/// Accesses of several lanes at one place are one request only if the lanes are in the same round. In unmarked
/// loops, accesses are paired in the order in which each lane makes them, even if lanes skip rounds. The attributes
/// `#[kernel]` and `#[device_function]` mark the loops of a function's own body.
#[derive(Debug)]
pub struct LoopRounds {
    /// The round of the loops around this one; none where nothing counts.
    outer: Option<Round>,
    key: usize,
    number: u32,
}

/// Enters a loop, which the caller's line identifies.
///
/// Does nothing outside of a launch, and in launches that are not counted.
#[inline]
#[track_caller]
#[must_use]
pub fn loop_rounds() -> LoopRounds {
    LoopRounds {
        outer: match is_counting() {
            true => round(),
            false => None,
        },
        key: std::ptr::from_ref(Location::caller()).addr(),
        number: 0,
    }
}

impl LoopRounds {
    /// Begins the next round.
    #[inline]
    pub fn begin(&mut self) {
        if let Some(outer) = self.outer {
            enter_round(round_within(outer, self.key, self.number));
            self.number = self.number.wrapping_add(1);
        }
    }
}

impl Drop for LoopRounds {
    /// Leaves the loop.
    #[inline]
    fn drop(&mut self) {
        if let Some(outer) = self.outer {
            enter_round(outer);
        }
    }
}

#[cold]
#[inline(never)]
fn round() -> Option<Round> {
    try_instruction(None, |thread, block| {
        let recorder = block.recorder.as_ref()?;
        Some(recorder.round(&thread.position))
    })?
}

#[cold]
#[inline(never)]
fn enter_round(round: Round) {
    try_instruction(None, |thread, block| {
        if let Some(recorder) = &block.recorder {
            recorder.enter_round(&thread.position, round);
        }
    });
}

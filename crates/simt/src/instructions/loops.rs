//! Rounds of loops, for the counters: what lanes do in one round is one request.

use crate::count::{Round, round_within};
use crate::current::try_instruction;
use crate::state::is_counting;
use std::panic::Location;

/// A loop that the running thread executes. While it counts, accesses of several lanes at one place
/// are one request only in the same round; without it they are paired in the order in which each
/// lane makes them, also where lanes skip rounds. The attributes `#[kernel]` and `#[device_function]`
/// mark the loops of a function's own body.
#[derive(Debug)]
pub struct LoopRounds {
    /// The round of the loops around this one; none where nothing counts.
    outer: Option<Round>,
    key: usize,
    number: u32,
}

/// The running thread comes to a loop, which the caller's line names. Outside of a launch, and in
/// launches that do not count, it does nothing.
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
    /// The next round begins.
    #[inline]
    pub fn begin(&mut self) {
        if let Some(outer) = self.outer {
            enter_round(round_within(outer, self.key, self.number));
            self.number = self.number.wrapping_add(1);
        }
    }
}

impl Drop for LoopRounds {
    /// The loop is left.
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

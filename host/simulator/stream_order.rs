//! The streams of a simulated device, and the work that each is ordered after.
//!
//! A launch or a copy is done when its call returns, so no order is ever violated here. Clocks track the order that a
//! GPU would have kept.

use crate::backend::EventHandle;
use crate::stream_set::{MAX_STREAMS, StreamNumber, StreamSet};
use std::collections::HashMap;

/// For each stream, its last call that the clock's stream is ordered after; calls are counted from 1.
pub(super) type Clock = [u64; MAX_STREAMS as usize];

/// The streams of a device, with their clocks.
#[derive(Debug, Default)]
pub(super) struct StreamOrder {
    /// By number; `None` where no stream has the number.
    clocks: Vec<Option<Box<Clock>>>,
    /// The times of events in nanoseconds, and their clocks, by handle.
    events: HashMap<u64, (u128, Box<Clock>)>,
    /// The number of events that were recorded.
    recorded: u64,
}

impl StreamOrder {
    /// Adds a stream, ordered after all work of the others; `None` if there are too many.
    pub(super) fn add(&mut self) -> Option<StreamNumber> {
        let vacant = self.clocks.iter().position(Option::is_none);
        let index = vacant.unwrap_or(self.clocks.len());
        if index >= MAX_STREAMS as usize {
            return None;
        }
        if vacant.is_none() {
            self.clocks.push(None);
        }
        let number = StreamNumber(index as u32);
        self.clocks[index] = Some(Box::new([0; MAX_STREAMS as usize]));
        self.wait_for(number, StreamSet::ALL);
        Some(number)
    }

    /// Whether there has never been a second stream.
    pub(super) fn has_one(&self) -> bool {
        self.clocks.len() <= 1
    }

    /// The clock of `stream`, whose next call begins.
    pub(super) fn next_call(&mut self, stream: StreamNumber) -> &Clock {
        let clock = self.clock(stream);
        clock[stream.0 as usize] += 1;
        clock
    }

    /// Removes a stream, whose work is done: all others are ordered after it.
    pub(super) fn remove(&mut self, stream: StreamNumber) {
        if let Some(ended) = self.clocks[stream.0 as usize].take() {
            for clock in self.clocks.iter_mut().flatten() {
                join(clock, &ended);
            }
        }
    }

    /// Orders `stream` after the work of `others`.
    pub(super) fn wait_for(&mut self, stream: StreamNumber, others: StreamSet) {
        for other in others.numbers() {
            let other = self.clocks.get(other.0 as usize);
            if let Some(other) = other.and_then(Clone::clone) {
                join(self.clock(stream), &other);
            }
        }
    }

    /// Makes an event: the time, and the work that `stream` has done and waited for.
    pub(super) fn record(&mut self, stream: StreamNumber, nanoseconds: u128) -> EventHandle {
        let clock = Box::new(*self.clock(stream));
        self.recorded += 1;
        self.events.insert(self.recorded, (nanoseconds, clock));
        EventHandle(self.recorded)
    }

    /// The time of a live event.
    pub(super) fn nanoseconds(&self, event: EventHandle) -> u128 {
        self.events[&event.0].0
    }

    /// Orders `stream` after a live event.
    pub(super) fn wait_for_event(&mut self, stream: StreamNumber, event: EventHandle) {
        if let Some((_, event)) = self.events.get(&event.0).cloned() {
            join(self.clock(stream), &event);
        }
    }

    pub(super) fn forget(&mut self, event: EventHandle) {
        self.events.remove(&event.0);
    }

    fn clock(&mut self, stream: StreamNumber) -> &mut Clock {
        let clock = self.clocks[stream.0 as usize].as_deref_mut();
        clock.expect("the stream is one of the device's")
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    for (own, other) in clock.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

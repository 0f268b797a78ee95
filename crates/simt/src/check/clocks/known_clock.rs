//! A clock that caches its answers about consecutive accesses of one thread.

use crate::check::cells::event::Time;
use crate::check::clocks::clock::VectorClock;
use std::cell::Cell;

/// A clock, if there is one, with its last answer. Neighbouring cells mostly have accesses of the same thread.
pub(in crate::check) struct KnownClock<'a> {
    clock: Option<&'a VectorClock>,
    /// A block, a thread of it, and a time; at first the time at which nothing happens.
    last: Cell<(u32, u32, Time)>,
}

impl<'a> KnownClock<'a> {
    #[inline]
    pub fn new(clock: Option<&'a VectorClock>) -> Self {
        Self {
            clock,
            last: Cell::new((0, 0, 0)),
        }
    }

    /// The clock.
    #[inline]
    pub fn get(&self) -> Option<&'a VectorClock> {
        self.clock
    }

    /// Whether a thread's accesses at `time` are ordered before.
    #[inline]
    pub fn is_after(&self, (block, thread): (u32, u32), time: Time) -> bool {
        let Some(clock) = self.clock else {
            return false;
        };
        let (last_block, last_thread, known) = self.last.get();
        if time <= known && (block, thread) == (last_block, last_thread) {
            return true;
        }
        let known = clock.at(block, thread);
        self.last.set((block, thread, known));
        time <= known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::SplitMix64;
    use crate::check::clocks::block_clock::BlockClock;
    use std::sync::Arc;

    /// Compares with the clock itself, in any order.
    #[test]
    fn answers_are_those_of_the_clock() {
        let mut random = SplitMix64::new(5, 0);
        let mut clock = VectorClock::default();
        for block in 0..3 {
            let runs = [(1..3, 2 + block), (3..4, 7)];
            clock.add_block(block, Arc::new(BlockClock::new(1, runs)));
        }
        let known = KnownClock::new(Some(&clock));
        let mut orders = [0; 2];
        for _ in 0..2000 {
            let mut below = |bound| random.below(bound) as u32;
            let (of, time) = ((below(4), below(5)), below(9) as Time);
            let is_after = known.is_after(of, time);
            assert_eq!(is_after, time <= clock.at(of.0, of.1), "{of:?} at {time}");
            orders[usize::from(is_after)] += 1;
        }
        assert!(orders.iter().all(|count| *count > 100), "{orders:?}");
        assert!(!KnownClock::new(None).is_after((0, 0), 0));
    }
}

//! Up to which time the accesses of the threads of one block have happened.

use super::event::Time;
use std::ops::Range;
use std::sync::Arc;

/// A step function over the threads of one block; after a barrier, it is a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct BlockClock {
    /// (first thread, time), with threads ascending from 0.
    steps: Vec<(u32, Time)>,
}

impl BlockClock {
    /// `time` for the threads of each of `runs`, which ascend and do not
    /// overlap; `others` for all other threads.
    pub fn new(others: Time, runs: impl IntoIterator<Item = (Range<u32>, Time)>) -> Self {
        let mut clock = Self {
            steps: vec![(0, others)],
        };
        for (threads, time) in runs {
            clock.push(threads.start, time);
            clock.push(threads.end, others);
        }
        clock
    }

    /// From `first` on, the time is `time`.
    fn push(&mut self, first: u32, time: Time) {
        if self.steps.last().is_some_and(|last| last.0 == first) {
            self.steps.pop();
        }
        if self.steps.last().is_none_or(|last| last.1 != time) {
            self.steps.push((first, time));
        }
    }

    pub fn at(&self, thread: u32) -> Time {
        let following = self.steps.partition_point(|step| step.0 <= thread);
        self.steps[following - 1].1
    }

    /// The threads at which one of the two functions changes, with both times from there on.
    fn both<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (u32, Time, Time)> + 'a {
        let (mut mine, mut others) = (0, 0);
        let mut next = Some(0);
        std::iter::from_fn(move || {
            let first = next?;
            let (own, of_other) = (self.steps[mine].1, other.steps[others].1);
            let following = |steps: &[(u32, Time)], at: usize| steps.get(at + 1).map(|step| step.0);
            let (after_own, after_other) = (
                following(&self.steps, mine),
                following(&other.steps, others),
            );
            next = after_own.into_iter().chain(after_other).min();
            mine += usize::from(after_own.is_some() && after_own == next);
            others += usize::from(after_other.is_some() && after_other == next);
            Some((first, own, of_other))
        })
    }

    /// Whether no time of the other is later.
    fn covers(&self, other: &Self) -> bool {
        self.both(other).all(|(_, own, of_other)| own >= of_other)
    }

    /// The later time of the two, thread by thread: one merge of ordered steps.
    pub fn join(&self, other: &Self) -> Self {
        let mut joined = Self {
            steps: Vec::with_capacity(self.steps.len() + other.steps.len()),
        };
        for (first, own, of_other) in self.both(other) {
            joined.push(first, own.max(of_other));
        }
        joined
    }

    /// [`join`](Self::join) of two shared clocks: one of them where that is the later one
    /// everywhere, so that equal clocks stay one.
    pub fn join_shared(one: &Arc<Self>, other: &Arc<Self>) -> Arc<Self> {
        if Arc::ptr_eq(one, other) || one.covers(other) {
            Arc::clone(one)
        } else if other.covers(one) {
            Arc::clone(other)
        } else {
            Arc::new(one.join(other))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::SplitMix64;

    #[test]
    fn a_clock_is_a_step_function() {
        let clock = BlockClock::new(1, [(2..4, 5), (4..5, 5), (7..8, 3)]);
        let times: Vec<Time> = (0..9).map(|thread| clock.at(thread)).collect();
        assert_eq!(times, [1, 1, 5, 5, 5, 1, 1, 3, 1]);
        assert_eq!(clock.steps.len(), 5);
    }

    #[test]
    fn joined_clocks_are_the_later_of_both() {
        let one = BlockClock::new(1, [(0..2, 4), (6..9, 2)]);
        let other = BlockClock::new(2, [(1..7, 3)]);
        let joined = one.join(&other);
        for thread in 0..12 {
            assert_eq!(joined.at(thread), one.at(thread).max(other.at(thread)));
        }
        assert!(joined.covers(&one) && joined.covers(&other) && !one.covers(&other));
    }

    /// Against a table with an entry for each thread.
    #[test]
    fn random_clocks_join_as_tables_do() {
        let mut random = SplitMix64::new(7, 0);
        let mut clock = || {
            let mut times = [0; 24];
            times.fill_with(|| random.below(4) as Time);
            let runs = (0..24).map(|thread| (thread..thread + 1, times[thread as usize]));
            (BlockClock::new(0, runs), times)
        };
        for _ in 0..500 {
            let ((one, one_times), (other, other_times)) = (clock(), clock());
            let joined = one.join(&other);
            let pairs = || one_times.iter().zip(&other_times);
            let expected: Vec<Time> = pairs().map(|(a, b)| *a.max(b)).collect();
            let times: Vec<Time> = (0..24).map(|thread| joined.at(thread)).collect();
            assert_eq!(times, expected);
            assert_eq!(one.covers(&other), pairs().all(|(a, b)| a >= b));
        }
    }

    #[test]
    fn the_later_clock_is_shared() {
        let earlier = Arc::new(BlockClock::new(1, [(0..2, 4)]));
        let later = Arc::new(BlockClock::new(2, [(0..4, 5)]));
        for (one, other) in [(&earlier, &later), (&later, &earlier), (&later, &later)] {
            assert!(Arc::ptr_eq(&BlockClock::join_shared(one, other), &later));
        }
    }
}

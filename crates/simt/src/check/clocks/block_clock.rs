//! A clock of one block: for each of its threads, the time up to which its accesses are ordered before.

use crate::check::cells::event::Time;
use std::ops::Range;
use std::sync::Arc;

/// Neighbouring threads whose times are in one array: a power of two.
const LANES: u32 = 32;

/// The times of threads `LANES * part..LANES * (part + 1)`.
type Times = [Time; LANES as usize];

/// A part of a clock.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    Same(Time),
    /// The times differ.
    Each(Arc<Times>),
}

impl Part {
    fn of(times: Times) -> Self {
        if times.iter().all(|time| *time == times[0]) {
            Self::Same(times[0])
        } else {
            Self::Each(Arc::new(times))
        }
    }

    fn times(&self) -> Times {
        match self {
            Self::Same(time) => [*time; LANES as usize],
            Self::Each(times) => **times,
        }
    }

    /// Whether no time of the other part is later than this one's, and the converse.
    fn covers(&self, other: &Self) -> (bool, bool) {
        match (self, other) {
            (Self::Same(own), Self::Same(of_other)) => (own >= of_other, own <= of_other),
            (Self::Each(own), Self::Each(of_other)) if Arc::ptr_eq(own, of_other) => (true, true),
            _ => {
                let (own, of_other) = (self.times(), other.times());
                // All of them, without an early exit, so that the loop is vectorised.
                own.iter()
                    .zip(&of_other)
                    .fold((true, true), |(later, earlier), (own, of_other)| {
                        (later & (own >= of_other), earlier & (own <= of_other))
                    })
            }
        }
    }

    /// The later of both times, thread by thread; one of the two parts itself if it has them all.
    fn join(&self, other: &Self) -> Self {
        match self.covers(other) {
            (true, _) => self.clone(),
            (_, true) => other.clone(),
            _ => {
                let (own, of_other) = (self.times(), other.times());
                Self::of(std::array::from_fn(|lane| own[lane].max(of_other[lane])))
            }
        }
    }
}

/// A step function over parts of a block's threads; after a barrier, a constant. Clocks share the times of equal parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::check) struct BlockClock {
    /// (first part, its times), with parts ascending from 0. `Same` holds for all parts up to the next step; `Each` is
    /// followed by a step.
    steps: Vec<(u32, Part)>,
}

impl BlockClock {
    /// `time` for the threads of `runs`, which ascend and do not overlap, and `others` for all other threads.
    pub fn new(others: Time, runs: impl IntoIterator<Item = (Range<u32>, Time)>) -> Self {
        let mut clock = Self {
            steps: vec![(0, Part::Same(others))],
        };
        // The current part, which may get more runs.
        let mut open: Option<(u32, Times)> = None;
        for (threads, time) in runs {
            let mut first = threads.start;
            while first < threads.end {
                let (part, lane) = (first / LANES, first % LANES);
                let end = threads.end.min((part + 1) * LANES);
                let whole_parts = (threads.end - first) / LANES;
                if lane == 0 && whole_parts > 0 {
                    clock.push_one(open.take(), others);
                    clock.push(part, Part::Same(time));
                    clock.push(part + whole_parts, Part::Same(others));
                    first += whole_parts * LANES;
                    continue;
                }
                if open.is_some_and(|(of, _)| of != part) {
                    clock.push_one(open.take(), others);
                }
                let (_, times) = open.get_or_insert((part, [others; LANES as usize]));
                times[lane as usize..(end - part * LANES) as usize].fill(time);
                first = end;
            }
        }
        clock.push_one(open, others);
        clock
    }

    /// These times of one part, and `others` after it.
    fn push_one(&mut self, part: Option<(u32, Times)>, others: Time) {
        if let Some((part, times)) = part {
            self.push(part, Part::of(times));
            self.push(part + 1, Part::Same(others));
        }
    }

    /// From part `first` on, the times are those of `part`.
    fn push(&mut self, first: u32, part: Part) {
        if self.steps.last().is_some_and(|last| last.0 == first) {
            self.steps.pop();
        }
        let is_same = |last: &(u32, Part)| matches!(part, Part::Same(_)) && last.1 == part;
        if !self.steps.last().is_some_and(is_same) {
            self.steps.push((first, part));
        }
    }

    pub fn at(&self, thread: u32) -> Time {
        let part = thread / LANES;
        let following = self.steps.partition_point(|step| step.0 <= part);
        match &self.steps[following - 1].1 {
            Part::Same(time) => *time,
            Part::Each(times) => times[(thread % LANES) as usize],
        }
    }

    /// The parts at which one of the two functions changes, with both values from there on.
    fn both<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (u32, &'a Part, &'a Part)> + 'a {
        let (mut mine, mut others) = (0, 0);
        let mut next = Some(0);
        std::iter::from_fn(move || {
            let first = next?;
            let (own, of_other) = (&self.steps[mine].1, &other.steps[others].1);
            let following = |steps: &[(u32, Part)], at: usize| steps.get(at + 1).map(|step| step.0);
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

    /// Whether no time of the other clock is later than this one's, and the converse.
    fn covers(&self, other: &Self) -> (bool, bool) {
        let mut covers = (true, true);
        for (_, own, of_other) in self.both(other) {
            let (later, earlier) = own.covers(of_other);
            covers = (covers.0 && later, covers.1 && earlier);
            if covers == (false, false) {
                break;
            }
        }
        covers
    }

    /// The later time of the two, thread by thread: one merge of ordered steps.
    pub fn join(&self, other: &Self) -> Self {
        let mut joined = Self {
            steps: Vec::with_capacity(self.steps.len() + other.steps.len()),
        };
        for (first, own, of_other) in self.both(other) {
            joined.push(first, own.join(of_other));
        }
        joined
    }

    /// [`join`](Self::join) of two shared clocks. If one is later everywhere, the result is that clock, so that equal
    /// clocks stay shared.
    pub fn join_shared(one: &Arc<Self>, other: &Arc<Self>) -> Arc<Self> {
        if Arc::ptr_eq(one, other) {
            return Arc::clone(one);
        }
        match one.covers(other) {
            (true, _) => Arc::clone(one),
            (_, true) => Arc::clone(other),
            _ => Arc::new(one.join(other)),
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
    }

    #[test]
    fn joined_clocks_are_the_later_of_both() {
        let one = BlockClock::new(1, [(0..2, 4), (6..9, 2)]);
        let other = BlockClock::new(2, [(1..7, 3)]);
        let joined = one.join(&other);
        for thread in 0..12 {
            assert_eq!(joined.at(thread), one.at(thread).max(other.at(thread)));
        }
        assert!(joined.covers(&one).0 && joined.covers(&other).0);
        assert_eq!(one.covers(&other), (false, false));
    }

    /// Compares with a table of an entry for each thread, for runs within a part and over several.
    #[test]
    fn random_clocks_join_as_tables_do() {
        const THREADS: u32 = 200;
        let mut random = SplitMix64::new(7, 0);
        let mut clock = || {
            let others = random.below(3) as Time;
            let mut times = [others; THREADS as usize];
            let (mut runs, mut end) = (Vec::new(), 0);
            let longest = [2, 20, 100][random.below(3) as usize];
            loop {
                let first = end + random.below(longest) as u32;
                end = first + random.below(longest) as u32;
                if end > THREADS {
                    break (BlockClock::new(others, runs), times);
                }
                let time = random.below(4) as Time;
                times[first as usize..end as usize].fill(time);
                runs.push((first..end, time));
            }
        };
        let times = |clock: &BlockClock| -> Vec<Time> {
            (0..THREADS).map(|thread| clock.at(thread)).collect()
        };
        for _ in 0..2000 {
            let ((one, one_times), (other, other_times)) = (clock(), clock());
            assert_eq!(times(&one), one_times);
            let pairs = || one_times.iter().zip(&other_times);
            let expected: Vec<Time> = pairs().map(|(a, b)| *a.max(b)).collect();
            assert_eq!(times(&one.join(&other)), expected);
            let is_later = pairs().all(|(a, b)| a >= b);
            let is_earlier = pairs().all(|(a, b)| a <= b);
            assert_eq!(one.covers(&other), (is_later, is_earlier));
        }
    }

    #[test]
    fn whole_parts_have_one_time() {
        let clock = BlockClock::new(1, [(0..64, 2), (64..100, 2), (100..128, 2)]);
        assert_eq!(clock, BlockClock::new(1, [(0..128, 2)]));
        assert_eq!(clock.steps, [(0, Part::Same(2)), (4, Part::Same(1))]);
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

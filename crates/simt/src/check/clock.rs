//! What has happened before: vector clocks, compressed.
//!
//! A full vector clock has an entry for each thread of the grid. Here a clock
//! is a step function over the threads of one block (after a barrier, it is a
//! constant), and there is an entry only for blocks with something in it.

use super::event::Time;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Up to which time the accesses of each thread of one block have happened.
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

    /// The later time of the two, thread by thread.
    pub fn join(&self, other: &Self) -> Self {
        let mut joined = Self {
            steps: Vec::with_capacity(self.steps.len() + other.steps.len()),
        };
        let mut starts: Vec<u32> = self.steps.iter().chain(&other.steps).map(|s| s.0).collect();
        starts.sort_unstable();
        starts.dedup();
        for first in starts {
            joined.push(first, self.at(first).max(other.at(first)));
        }
        joined
    }
}

/// Up to which time the accesses of the threads of a launch have happened, block by block.
#[derive(Clone, Default, Debug)]
pub(super) struct VectorClock {
    blocks: BTreeMap<u32, Arc<BlockClock>>,
    /// The last barrier of the grid, in each block's own time.
    grid_barrier: Option<Arc<[Time]>>,
}

impl VectorClock {
    /// Up to which time the accesses of a thread have happened.
    pub fn at(&self, block: u32, thread: u32) -> Time {
        let by_clock = self.blocks.get(&block).map_or(0, |clock| clock.at(thread));
        by_clock.max(self.last_grid_barrier(block))
    }

    /// When the last barrier of the grid was in the time of `block`; everything in it up to then
    /// has happened.
    pub fn last_grid_barrier(&self, block: u32) -> Time {
        let of_block = |times: &Arc<[Time]>| times.get(block as usize).copied();
        self.grid_barrier.as_ref().and_then(of_block).unwrap_or(0)
    }

    /// Whether there is more to it than barriers of the grid.
    pub fn has_clocks(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Adds a barrier of the grid. Time goes on in each block from one to the next, so the later
    /// one is the later one in all of them.
    pub fn add_grid_barrier(&mut self, times: &Arc<[Time]>) {
        let is_later = self.grid_barrier.as_ref().is_none_or(|known| known < times);
        if is_later {
            self.grid_barrier = Some(Arc::clone(times));
        }
    }

    /// Adds a clock of one block.
    pub fn add_block(&mut self, block: u32, clock: Arc<BlockClock>) {
        match self.blocks.get_mut(&block) {
            None => {
                self.blocks.insert(block, clock);
            }
            Some(known) if Arc::ptr_eq(known, &clock) => {}
            Some(known) => *known = Arc::new(known.join(&clock)),
        }
    }

    fn join(&mut self, other: &Self) {
        for (block, clock) in &other.blocks {
            self.add_block(*block, Arc::clone(clock));
        }
        if let Some(times) = &other.grid_barrier {
            self.add_grid_barrier(times);
        }
    }
}

/// A clock that several threads hold together; none is before everything.
pub(super) type SharedClock = Option<Arc<VectorClock>>;

/// Adds `more` to `known`, without a copy where one of them is all there is.
pub(super) fn add(known: &mut SharedClock, more: &SharedClock) {
    let Some(more) = more else { return };
    match known {
        None => *known = Some(Arc::clone(more)),
        Some(known) if Arc::ptr_eq(known, more) => {}
        Some(known) => Arc::make_mut(known).join(more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }

    #[test]
    fn the_last_grid_barrier_counts_in_each_block() {
        let mut clock = VectorClock::default();
        clock.add_block(1, Arc::new(BlockClock::new(0, [(3..4, 8)])));
        let earlier: Arc<[Time]> = Arc::new([2, 5]);
        let later: Arc<[Time]> = Arc::new([4, 6]);
        clock.add_grid_barrier(&later);
        let mut other = VectorClock::default();
        other.add_grid_barrier(&earlier);
        clock.join(&other);
        assert!(clock.has_clocks() && !other.has_clocks());
        let times = [(0, 0), (1, 0), (1, 3), (2, 0)].map(|(b, thread)| clock.at(b, thread));
        assert_eq!(times, [4, 6, 8, 0]);
    }

    #[test]
    fn shared_clocks_are_joined_per_block() {
        let of = |block, clock| {
            let mut known = VectorClock::default();
            known.add_block(block, Arc::new(clock));
            Some(Arc::new(known))
        };
        let mut known = None;
        add(&mut known, &None);
        assert!(known.is_none());
        add(&mut known, &of(3, BlockClock::new(1, [])));
        add(&mut known, &of(3, BlockClock::new(0, [(5..6, 9)])));
        add(&mut known, &of(8, BlockClock::new(2, [])));
        let known = known.unwrap();
        let times = [
            known.at(3, 4),
            known.at(3, 5),
            known.at(8, 0),
            known.at(0, 0),
        ];
        assert_eq!(times, [1, 9, 2, 0]);
    }
}

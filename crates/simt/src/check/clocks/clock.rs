//! Happens-before order as compressed vector clocks.
//!
//! A full vector clock has an entry for each thread of the grid. Here a clock has entries only for some blocks, each a
//! step function over the block's threads. Clocks are shared and immutable. The cost of a join is proportional to the
//! differences.

use crate::check::cells::event::Time;
use crate::check::clocks::block_clock::BlockClock;
use crate::check::clocks::block_clocks::{BlockClocks, is_one};
use std::sync::Arc;

/// For each thread of a launch, the time up to which its accesses have happened, block by block.
#[derive(Clone, Default)]
pub(in crate::check) struct VectorClock {
    blocks: BlockClocks,
    /// The last barrier of the grid, in each block's own time.
    grid_barrier: Option<Arc<[Time]>>,
}

impl VectorClock {
    /// The time up to which the accesses of a thread have happened.
    pub fn at(&self, block: u32, thread: u32) -> Time {
        let by_clock = self.blocks.get(block).map_or(0, |clock| clock.at(thread));
        by_clock.max(self.last_grid_barrier(block))
    }

    /// The time of the last barrier of the grid, in the time of `block`. All of the block's accesses up to then have
    /// happened.
    pub fn last_grid_barrier(&self, block: u32) -> Time {
        let of_block = |times: &Arc<[Time]>| times.get(block as usize).copied();
        self.grid_barrier.as_ref().and_then(of_block).unwrap_or(0)
    }

    /// Whether it has more than barriers of the grid.
    pub fn has_clocks(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Adds a barrier of the grid. Each block's time advances from one barrier to the next, so the later one is later
    /// in all blocks.
    pub fn add_grid_barrier(&mut self, times: &Arc<[Time]>) {
        let is_later = self.grid_barrier.as_ref().is_none_or(|known| known < times);
        if is_later {
            self.grid_barrier = Some(Arc::clone(times));
        }
    }

    /// Adds a clock of a block.
    pub fn add_block(&mut self, block: u32, clock: Arc<BlockClock>) {
        self.blocks.add(block, clock);
    }

    fn join(&mut self, other: &Self) {
        self.blocks.join(&other.blocks);
        if let Some(times) = &other.grid_barrier {
            self.add_grid_barrier(times);
        }
    }

    /// Whether the two share all their parts.
    fn is_same(&self, other: &Self) -> bool {
        is_one(&self.grid_barrier, &other.grid_barrier) && self.blocks.is_same(&other.blocks)
    }
}

/// A clock that several threads share. `None` is before everything.
pub(in crate::check) type SharedClock = Option<Arc<VectorClock>>;

/// Adds `more` to `known`, without a copy if one of them is empty.
pub(in crate::check) fn add(known: &mut SharedClock, more: &SharedClock) {
    let Some(more) = more else { return };
    match known {
        None => *known = Some(Arc::clone(more)),
        Some(known) if Arc::ptr_eq(known, more) => {}
        Some(known) => {
            let own = Arc::make_mut(known);
            own.join(more);
            // Threads with equal clocks share one, which their next joins recognise.
            if own.is_same(more) {
                *known = Arc::clone(more);
            }
        }
    }
}

/// The result of a join of two clocks.
struct Join {
    known: Arc<VectorClock>,
    more: Arc<VectorClock>,
    joined: Arc<VectorClock>,
}

/// The last joins. The lanes of a warp share one clock, and add the same one to it, one lane after the other.
#[derive(Default)]
pub(in crate::check) struct Joins {
    last: [Option<Join>; 4],
    /// The place of the oldest join.
    oldest: usize,
}

impl Joins {
    /// [`add`], looked up if it is one of the last joins.
    pub fn add(&mut self, known: &mut SharedClock, more: &SharedClock) {
        let (Some(own), Some(other)) = (&*known, more) else {
            return add(known, more);
        };
        let mut last = self.last.iter().flatten();
        let is_known =
            |join: &&Join| Arc::ptr_eq(&join.known, own) && Arc::ptr_eq(&join.more, other);
        if let Some(join) = last.find(is_known) {
            *known = Some(Arc::clone(&join.joined));
            return;
        }
        let own = Arc::clone(own);
        add(known, more);
        if let Some(joined) = known {
            self.last[self.oldest] = Some(Join {
                known: own,
                more: Arc::clone(other),
                joined: Arc::clone(joined),
            });
            self.oldest = (self.oldest + 1) % self.last.len();
        }
    }
}

/// The accesses before a point, in two orders.
#[derive(Clone, Default)]
pub(in crate::check) struct Before {
    /// By barriers, and by release and acquire patterns: the order that the rules for races require.
    pub ordered: SharedClock,
    /// Beyond `ordered`, by the order in which this run has executed sequentially consistent fences: an atomic load
    /// must see these. Other runs have other orders, so this order excuses no race.
    pub fenced: SharedClock,
}

impl Before {
    /// Adds the accesses before something else.
    pub fn add(&mut self, more: &Self) {
        add(&mut self.ordered, &more.ordered);
        add(&mut self.fenced, &more.fenced);
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.ordered.is_none() && self.fenced.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

//! The reads of cells of shared memory.
//!
//! The threads that read one element of a tile read its neighbours, too: many cells have the same
//! reads. So a cell has the number of a set, and a read leads from one set to another. A thread that
//! takes many cells from the same set to the same other one looks the first such step up.

use super::accessor::Accessor;
use super::event::{Event, Time};
use super::readers::{Readers, Reads};
use crate::memory::{OutOfMemory, release_reserve, try_collect};

/// Steps that are remembered: two to this power.
const STEP_BITS: u32 = 9;

/// A new step costs as much as so many that are looked up.
const COST_OF_STEP: i32 = 4;

/// The most that steps looked up can be ahead of the cost of new ones, or behind it.
const MOST_CREDIT: i32 = 1 << 12;

/// With so many sets, those that no cell has are forgotten for the first time.
const FEW_SETS: usize = 1 << 12;

/// The number of a set of [`ReaderSets`]; 0 is the empty one. With the bit [`OWN`], no other cell has
/// the set, and it may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ReaderSet(u32);

const OWN: u32 = 1 << 31;

/// Reads of a cell since its last write.
struct Set {
    readers: Readers,
    /// Barriers of the block from this time on order all of the reads, which are of its threads;
    /// [`Time::MAX`] if some are not.
    settled: Time,
    /// The block of the reads.
    block: u32,
}

/// A read that leads from one set to another, whichever cell it is of.
#[derive(Clone)]
struct Step {
    from: ReaderSet,
    event: Event,
    to: ReaderSet,
    /// Whether the thread had a clock.
    has_clock: bool,
}

impl Step {
    /// No read has this event.
    const NONE: Self = Self {
        from: ReaderSet::NONE,
        event: Event::NOTHING,
        to: ReaderSet::NONE,
        has_clock: false,
    };
}

/// The sets of reads that the cells of a block's shared memory have.
#[derive(Default)]
pub(super) struct ReaderSets {
    /// Set number `n` at place `n - 1`.
    sets: Vec<Set>,
    /// Numbers of sets that no cell has.
    free: Vec<ReaderSet>,
    /// By [`place_of`].
    steps: Vec<Step>,
    /// Sets that there may be before those without a cell are forgotten.
    most: usize,
    /// Steps looked up, less the cost of new ones. While it is negative, cells have sets of their
    /// own: their reads differ.
    credit: i32,
}

/// Where a step is remembered.
#[inline]
fn place_of(from: ReaderSet, event: &Event) -> usize {
    let [first, second] = event.to_words();
    let mixed = (first ^ second.rotate_left(16) ^ u64::from(from.0) << 20)
        // 2^64 divided by the golden ratio.
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - STEP_BITS)) as usize
}

impl ReaderSets {
    /// No cell has reads any more.
    pub fn clear(&mut self) {
        if !self.sets.is_empty() {
            self.sets.clear();
            self.free.clear();
            self.steps.fill(Step::NONE);
        }
        self.most = FEW_SETS;
    }

    /// Whether there are so many sets that those without a cell should be forgotten.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.sets.len() > self.most
    }

    /// Forgets all sets but those of `cells`, which are all cells with reads, and gives them other
    /// numbers.
    pub fn keep<'a>(
        &mut self,
        cells: impl Iterator<Item = &'a mut ReaderSet>,
    ) -> Result<(), OutOfMemory> {
        let mut numbers = try_collect((0..self.sets.len()).map(|_| ReaderSet::NONE))?;
        let mut kept = Vec::new();
        for cell in cells.filter(|cell| !cell.is_empty()) {
            let number = &mut numbers[cell.place()];
            if number.is_empty() {
                let set = &mut self.sets[cell.place()];
                let taken = Set {
                    readers: std::mem::replace(&mut set.readers, Readers::NONE),
                    ..*set
                };
                *number = push(&mut kept, taken)?;
                number.0 |= cell.0 & OWN;
            }
            *cell = *number;
        }
        self.most = FEW_SETS.max(2 * kept.len());
        self.sets = kept;
        self.free.clear();
        self.steps.fill(Step::NONE);
        Ok(())
    }

    /// Whether the barrier of `block` at time `barrier` orders all reads of a set before its threads.
    #[inline]
    pub fn is_settled_at(&self, set: ReaderSet, block: u32, barrier: Time) -> bool {
        set.is_empty() || self.sets[set.place()].is_settled(block, barrier)
    }

    /// The set that a cell has after a read, instead of `from`, if that is known at once; `has_clock`:
    /// the thread has a clock.
    #[inline]
    pub fn quick_step(
        &mut self,
        from: ReaderSet,
        event: &Event,
        warp_width: u16,
        has_clock: bool,
    ) -> Option<ReaderSet> {
        if !from.is_own() {
            return self.known_step(from, event, has_clock);
        }
        let set = &mut self.sets[from.place()];
        let lane_bit = 1 << (event.thread() % warp_width);
        let is_added = set.readers.add_lane(event, lane_bit, warp_width);
        is_added.then_some(from)
    }

    /// The set that a cell has after a read, instead of `from`, if the step is known.
    #[inline]
    fn known_step(&mut self, from: ReaderSet, event: &Event, has_clock: bool) -> Option<ReaderSet> {
        let step = self.steps.get(place_of(from, event))?;
        let is_same = step.from == from && step.event == *event && step.has_clock == has_clock;
        is_same.then(|| {
            self.credit = MOST_CREDIT.min(self.credit + 1);
            step.to
        })
    }

    /// The set that a cell has after a read, instead of `from`, which may be that of other cells.
    #[inline]
    fn step(
        &mut self,
        from: ReaderSet,
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<ReaderSet, OutOfMemory> {
        match self.known_step(from, event, accessor.clock.is_some()) {
            Some(to) => Ok(to),
            None => self.new_step(from, event, accessor),
        }
    }

    #[cold]
    fn new_step(
        &mut self,
        from: ReaderSet,
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<ReaderSet, OutOfMemory> {
        let is_common =
            self.is_repeatable(from, event, accessor) && (self.credit >= 0 || from.is_empty());
        self.credit = (-MOST_CREDIT).max(self.credit - COST_OF_STEP);
        let mut set = match from.is_empty() {
            true => Set {
                readers: Readers::NONE,
                settled: 0,
                block: event.block,
            },
            false => {
                let before = &self.sets[from.place()];
                Set {
                    readers: before.readers.try_clone()?,
                    ..*before
                }
            }
        };
        set.add(event, accessor)?;
        let to = match self.free.pop() {
            Some(number) => {
                self.sets[number.place()] = set;
                number
            }
            None => push(&mut self.sets, set)?,
        };
        if !is_common {
            return Ok(ReaderSet(to.0 | OWN));
        }
        self.remember(Step {
            from,
            event: *event,
            to,
            has_clock: accessor.clock.is_some(),
        })?;
        Ok(to)
    }

    /// Whether each read like this one leads from `from` to the same set: without clocks, time and
    /// thread tell what is ordered before a read.
    fn is_repeatable(&self, from: ReaderSet, event: &Event, accessor: &Accessor<'_>) -> bool {
        let takes_in = |from: ReaderSet| {
            let readers = &self.sets[from.place()].readers;
            readers.takes_in(event, accessor.warp_width())
        };
        accessor.is_own(event) && (accessor.clock.is_none() || from.is_empty() || takes_in(from))
    }

    /// No cell has the set any more, which was the own one of a cell.
    fn release(&mut self, mut set: ReaderSet) {
        self.sets[set.place()].readers.clear(&mut ());
        set.make_common();
        // Without room for its number, the set is forgotten with the next ones.
        if self.free.try_reserve(1).is_ok() {
            self.free.push(set);
        }
    }

    fn remember(&mut self, step: Step) -> Result<(), OutOfMemory> {
        if self.steps.is_empty() {
            self.steps = try_collect((0..1 << STEP_BITS).map(|_: usize| Step::NONE))?;
        }
        let place = place_of(step.from, &step.event);
        self.steps[place] = step;
        Ok(())
    }
}

/// Adds a set; returns its number.
fn push(sets: &mut Vec<Set>, set: Set) -> Result<ReaderSet, OutOfMemory> {
    sets.try_reserve(1).map_err(|_| release_reserve())?;
    sets.push(set);
    Ok(ReaderSet(sets.len() as u32))
}

impl Set {
    fn add(&mut self, event: &Event, accessor: &Accessor<'_>) -> Result<(), OutOfMemory> {
        self.settled = match event.block == self.block {
            true => self.settled.max(event.time),
            false => Time::MAX,
        };
        self.readers.add(event, accessor, true, &mut ())
    }

    /// Whether a barrier of the block orders all of the reads before its threads.
    #[inline]
    fn is_settled(&self, block: u32, barrier: Time) -> bool {
        self.block == block && self.settled <= barrier
    }
}

impl ReaderSet {
    #[inline]
    fn place(self) -> usize {
        (self.0 & !OWN) as usize - 1
    }

    #[inline]
    fn is_own(self) -> bool {
        self.0 & OWN != 0
    }

    /// Other cells have the set, too, from now on.
    pub fn make_common(&mut self) {
        self.0 &= !OWN;
    }
}

impl Reads for ReaderSet {
    type Sets = ReaderSets;

    const NONE: Self = Self(0);

    #[inline]
    fn is_empty(&self) -> bool {
        self.0 == 0
    }

    #[inline]
    fn clear(&mut self, sets: &mut ReaderSets) {
        if self.is_own() {
            sets.release(*self);
        }
        *self = Self::NONE;
    }

    #[inline]
    fn unordered(&self, accessor: &Accessor<'_>, sets: &ReaderSets) -> Option<Event> {
        if self.is_empty() {
            return None;
        }
        let set = &sets.sets[self.place()];
        match set.is_settled(accessor.block, accessor.block_barrier) {
            true => None,
            false => set.readers.unordered(accessor, &()),
        }
    }

    #[inline]
    fn add(
        &mut self,
        event: &Event,
        accessor: &Accessor<'_>,
        _: bool,
        sets: &mut ReaderSets,
    ) -> Result<(), OutOfMemory> {
        if self.is_own() {
            return sets.sets[self.place()].add(event, accessor);
        }
        *self = sets.step(*self, event, accessor)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;

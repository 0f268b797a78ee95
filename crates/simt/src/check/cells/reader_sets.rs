//! The reads of cells of shared memory.
//!
//! Threads that read one element of a tile also read its neighbours, so many cells have the same reads. A cell
//! therefore has the number of a set, and a read leads from one set to another. A thread that takes many cells from
//! one set to the same other set looks up the first such step.

mod number;
mod set;
mod steps;

pub(in crate::check) use self::number::ReaderSet;
pub(in crate::check) use self::set::PlainRead;

use self::number::{LATE, OWN};
use self::set::{Set, SetReads};
use self::steps::{Step, Steps};
use crate::check::accessor::Accessor;
use crate::check::cells::event::packed::Packed;
use crate::check::cells::event::{Event, Time};
use crate::check::cells::readers::{Readers, Reads};
use crate::memory::{OutOfMemory, release_reserve, try_collect};
use std::cell::Cell;

/// The cost of a new step, in lookups.
const COST_OF_STEP: i32 = 4;

/// The largest balance of lookups and the cost of new steps, in either direction.
const MOST_CREDIT: i32 = 1 << 12;

/// The number of sets at which those without a cell are first forgotten.
const FEW_SETS: usize = 1 << 12;

/// The sets of reads that the cells of a block's shared memory have.
#[derive(Default)]
pub(in crate::check) struct ReaderSets {
    /// Set number `n` at place `n - 1`.
    sets: Vec<Set>,
    /// Unused numbers of sets.
    free: Vec<ReaderSet>,
    steps: Steps,
    /// The number of sets above which those without a cell are forgotten.
    most: usize,
    /// Lookups up to the last new step, less the cost of new steps. While it is negative, the cells' reads differ, and
    /// each cell has its own set.
    credit: i32,
    /// Lookups since then.
    found: Cell<u32>,
}

impl ReaderSets {
    /// No cell has reads any more.
    pub fn clear(&mut self) {
        if !self.sets.is_empty() {
            self.sets.clear();
            self.free.clear();
            self.steps.clear();
        }
        self.most = FEW_SETS;
        self.credit = 0;
        self.found.set(0);
    }

    /// Whether the sets without a cell should be forgotten, because there are too many.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.sets.len() > self.most
    }

    /// Forgets all sets but those of `cells`, all cells with reads, and renumbers them.
    pub fn keep<'a>(
        &mut self,
        cells: impl Iterator<Item = &'a Cell<ReaderSet>>,
    ) -> Result<(), OutOfMemory> {
        let mut numbers = try_collect((0..self.sets.len()).map(|_| ReaderSet::NONE))?;
        let mut places = Vec::new();
        for cell in cells.filter(|cell| !cell.get().is_empty()) {
            let known = cell.get();
            let place = known.place();
            if numbers[place].is_empty() {
                self.list(known)?;
                numbers[place] = push(&mut places, place)?;
                numbers[place].0 |= known.0 & OWN;
            }
            cell.set(ReaderSet(numbers[place].0 | known.0 & LATE));
        }
        let kept = try_collect(places.iter().map(|place| self.sets[*place].take()))?;
        self.most = FEW_SETS.max(2 * kept.len());
        self.sets = kept;
        self.free.clear();
        self.steps.clear();
        Ok(())
    }

    /// This many steps have been found elsewhere.
    #[inline]
    pub fn note_found(&mut self, steps: u32) {
        let found = self.found.get_mut();
        *found = found.wrapping_add(steps);
    }

    /// Whether the barrier of `block` at time `barrier` orders all reads of a set before its threads.
    #[inline(always)]
    pub fn is_settled_at(&self, set: ReaderSet, block: u32, barrier: Time) -> bool {
        set.is_empty() || self.sets[set.place()].is_settled(block, barrier)
    }

    /// Adds a read to a cell's own set, if the same warp, of this width, made the last read, at the same time.
    #[inline]
    pub fn add_to_own(&mut self, set: ReaderSet, event: Packed, warp_width: u16) -> bool {
        let Some(event) = event.event().ok().filter(|_| set.is_own()) else {
            return false;
        };
        let lane_bit = 1 << (event.thread() % warp_width);
        match &mut self.sets[set.place()].reads {
            SetReads::Listed(readers) => readers.add_lane(&event, lane_bit, warp_width),
            SetReads::OneMore { .. } => false,
        }
    }

    /// The set that replaces a cell's set `from` after a read, if the step is known. `has_clock`: the thread has a
    /// clock.
    #[inline(always)]
    pub fn known_step(&self, from: ReaderSet, event: Packed, has_clock: bool) -> Option<ReaderSet> {
        let to = self.steps.find(from, event, has_clock)?;
        self.found.set(self.found.get().wrapping_add(1));
        Some(to)
    }

    /// The set that replaces a cell's set `from`, which other cells may share, after a read.
    #[inline]
    fn step(
        &mut self,
        from: ReaderSet,
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<ReaderSet, OutOfMemory> {
        let has_clock = accessor.clock.get().is_some();
        let packed = event.pack();
        match packed.and_then(|event| self.known_step(from, event, has_clock)) {
            Some(to) => Ok(to),
            None => self.new_step(from, event, packed, accessor),
        }
    }

    /// [`new_step`](Self::new_step) of a thread without a clock, from a set that is neither empty nor a cell's own.
    /// `None` if cells should have their own sets.
    #[inline]
    pub fn one_more(
        &mut self,
        from: ReaderSet,
        read: PlainRead,
    ) -> Result<Option<ReaderSet>, OutOfMemory> {
        self.credit_found();
        if self.credit < 0 {
            return Ok(None);
        }
        self.charge_step();
        let event = read.event;
        let set = self.sets[from.place()].and_one_more(from, read);
        let to = self.number(set)?;
        self.steps.remember(Step {
            event,
            from,
            to,
            has_clock: false,
        })?;
        Ok(Some(to))
    }

    /// Counts the lookups since the last new step.
    #[inline]
    fn credit_found(&mut self) {
        self.credit = MOST_CREDIT.min(self.credit.saturating_add_unsigned(self.found.take()));
    }

    /// Counts the cost of a new step.
    #[inline]
    fn charge_step(&mut self) {
        self.credit = (-MOST_CREDIT).max(self.credit - COST_OF_STEP);
    }

    /// The set that replaces a cell's set `from` after a read for which no step is known. `packed` is the event in a
    /// word, if it fits.
    pub fn new_step(
        &mut self,
        from: ReaderSet,
        event: &Event,
        packed: Option<Packed>,
        accessor: &Accessor<'_>,
    ) -> Result<ReaderSet, OutOfMemory> {
        self.credit_found();
        // Other steps cannot be looked up.
        let packed = match self.is_repeatable(from, event, accessor)? {
            true => packed.filter(|_| self.credit >= 0 || from.is_empty()),
            false => None,
        };
        self.charge_step();
        let plain = packed.and_then(|packed| PlainRead::new(event, packed, accessor));
        let mut set = match plain {
            _ if from.is_empty() => Set::new(event.block),
            Some(read) => self.sets[from.place()].with(SetReads::OneMore { than: from, read }),
            None => {
                let readers = self.list(from)?.try_clone()?;
                self.sets[from.place()].with(SetReads::Listed(readers))
            }
        };
        set.add(event, accessor)?;
        let to = self.number(set)?;
        let Some(event) = packed else {
            return Ok(ReaderSet(to.0 | OWN));
        };
        self.steps.remember(Step {
            event,
            from,
            to,
            has_clock: accessor.clock.get().is_some(),
        })?;
        Ok(to)
    }

    /// Gives a set its number.
    fn number(&mut self, set: Set) -> Result<ReaderSet, OutOfMemory> {
        match self.free.pop() {
            Some(number) => {
                self.sets[number.place()] = set;
                Ok(number)
            }
            None => push(&mut self.sets, set),
        }
    }

    /// A copy of the set for one cell.
    fn own_copy(&mut self, set: ReaderSet) -> Result<ReaderSet, OutOfMemory> {
        let readers = self.list(set)?.try_clone()?;
        let copy = self.sets[set.place()].with(SetReads::Listed(readers));
        Ok(ReaderSet(self.number(copy)?.0 | OWN))
    }

    /// Whether every read like this one leads from `from` to the same set. Without clocks, time and thread determine
    /// what is ordered before a read.
    fn is_repeatable(
        &mut self,
        from: ReaderSet,
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<bool, OutOfMemory> {
        if !accessor.is_own(event) {
            return Ok(false);
        }
        if accessor.clock.get().is_none() || from.is_empty() {
            return Ok(true);
        }
        let readers = self.list(from)?;
        Ok(readers.takes_in(event, accessor.warp_width()))
    }

    /// The list of a set's reads, built if there is none.
    fn list(&mut self, set: ReaderSet) -> Result<&mut Readers, OutOfMemory> {
        let mut later = Vec::new();
        let mut place = set.place();
        let mut readers = loop {
            match &self.sets[place].reads {
                SetReads::OneMore { than, read } => {
                    later.try_reserve(1).map_err(|_| release_reserve())?;
                    later.push(read);
                    place = than.place();
                }
                SetReads::Listed(_) if later.is_empty() => break Readers::NONE,
                SetReads::Listed(readers) => break readers.try_clone()?,
            }
        };
        let is_made = !later.is_empty();
        for read in later.into_iter().rev() {
            read.add_to(&mut readers)?;
        }
        let reads = &mut self.sets[set.place()].reads;
        if is_made {
            *reads = SetReads::Listed(readers);
        }
        match reads {
            SetReads::Listed(readers) => Ok(readers),
            SetReads::OneMore { .. } => unreachable!("the list has just been made"),
        }
    }

    /// A cell's own set is no longer used.
    fn release(&mut self, mut set: ReaderSet) {
        if let SetReads::Listed(readers) = &mut self.sets[set.place()].reads {
            readers.clear(&mut ());
        }
        set.make_common();
        // If there is no memory for its number, the set is forgotten with the next ones.
        if self.free.try_reserve(1).is_ok() {
            self.free.push(set);
        }
    }
}

/// Adds a set, or what stands for one; returns its number.
fn push<T>(sets: &mut Vec<T>, set: T) -> Result<ReaderSet, OutOfMemory> {
    sets.try_reserve(1).map_err(|_| release_reserve())?;
    sets.push(set);
    Ok(ReaderSet(sets.len() as u32))
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
    fn unordered_of(
        &self,
        accessor: &Accessor<'_>,
        sets: &mut ReaderSets,
        is_asked: impl Fn(&Event) -> bool,
    ) -> Result<Option<Event>, OutOfMemory> {
        if sets.is_settled_at(*self, accessor.block, accessor.block_barrier) {
            return Ok(None);
        }
        sets.list(*self)?.unordered_of(accessor, &mut (), is_asked)
    }

    #[inline]
    fn is_replaced_by(
        &self,
        event: &Event,
        accessor: &Accessor<'_>,
        sets: &mut ReaderSets,
    ) -> Result<bool, OutOfMemory> {
        Ok(self.is_empty() || sets.list(*self)?.is_replaced_by(event, accessor, &mut ())?)
    }

    fn forget_replaced(
        &mut self,
        event: &Event,
        accessor: &Accessor<'_>,
        sets: &mut ReaderSets,
    ) -> Result<(), OutOfMemory> {
        if self.is_replaced_by(event, accessor, sets)? {
            self.clear(sets);
        } else if self.is_own() {
            sets.list(*self)?
                .forget_replaced(event, accessor, &mut ())?;
        } else {
            *self = sets.own_copy(*self)?;
            return self.forget_replaced(event, accessor, sets);
        }
        Ok(())
    }

    /// The list of a set says so itself.
    fn merged(&self) -> Option<Event> {
        None
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

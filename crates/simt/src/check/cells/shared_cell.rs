//! A cell of shared memory: the last write in 16 bytes, and the number of the set of reads since then.
//!
//! A cell with more state, or with a write that does not fit, is kept beside those of its page.
//!
//! The set of reads alone shows whether a load after the last barrier of the block is allowed: a cell whose write may be
//! later than that barrier says so beside the set, whatever other cells have the same reads.

use crate::check::accessor::Accessor;
use crate::check::cells::cell::{self, Conflict, Rules};
use crate::check::cells::event::packed::{Packed, WritesOf};
use crate::check::cells::event::{Event, Time};
use crate::check::cells::reader_sets::{PlainRead, ReaderSet, ReaderSets};
use crate::check::cells::readers::Reads;
use crate::check::cells::site::Site;
use crate::check::cells::spilled::Spilled;
use crate::check::fast_paths::recent_steps::{Line, RecentSteps};
use crate::check::fast_paths::single_event::Plain;
use crate::memory::OutOfMemory;
use std::cell::Cell;

/// A cell with its whole state.
pub(in crate::check) type WholeCell = cell::Cell<ReaderSet>;

/// Shared memory is uninitialised at first, and there is memory for each of several readers.
const RULES: Rules = Rules {
    starts_unwritten: true,
    is_exact: true,
};

/// The last write of a few bytes, or the number of a [`WholeCell`].
#[derive(Clone)]
#[repr(align(16))]
pub(in crate::check) struct LastWrite {
    /// The word of the write's [`Packed`] event.
    word: Cell<u64>,
    /// The event's line.
    site: Cell<Site>,
}

impl LastWrite {
    /// No write.
    pub const fn untouched() -> Self {
        Self {
            word: Cell::new(0),
            site: Cell::new(Site::UNKNOWN),
        }
    }
}

/// The state of a few bytes of shared memory.
#[derive(Clone, Copy)]
pub(in crate::check) struct SharedCell<'a> {
    write: &'a LastWrite,
    /// The reads since the write; none if the write is a number.
    kept_reads: &'a Cell<ReaderSet>,
}

impl<'a> SharedCell<'a> {
    #[inline(always)]
    pub fn new((write, kept_reads): (&'a LastWrite, &'a Cell<ReaderSet>)) -> Self {
        Self { write, kept_reads }
    }

    /// The reads since the write.
    #[inline(always)]
    pub fn reads(self) -> ReaderSet {
        self.kept_reads.get().set()
    }

    /// Sets the reads since the write. `is_late`: the write may be later than the block's last barrier.
    #[inline(always)]
    fn set_reads(self, reads: ReaderSet, is_late: bool) {
        self.kept_reads.set(reads.after_write(is_late));
    }

    #[inline(always)]
    fn word(self) -> u64 {
        self.write.word.get()
    }

    /// Records a load by a thread with or without a clock, if the write is before it and the load's step is known.
    #[inline(always)]
    pub fn load(self, access: &Plain<false>, has_clock: bool, sets: &ReaderSets) -> bool {
        let known = self.word();
        if !access.is_after_write(known) {
            return false;
        }
        if access.repeats(known) {
            return true;
        }
        let to = sets.known_step(self.reads(), access.event, has_clock);
        let is_late = !access.is_after_barrier(known);
        to.map(|to| self.set_reads(to, is_late)).is_some()
    }

    /// Records a load at a line by the running thread, if the block's last barrier, at this time, orders the write, one
    /// of `writes`, before it, and the thread made the step recently.
    #[inline(always)]
    pub fn load_again(
        self,
        line: Line,
        (writes, barrier): (WritesOf, Time),
        steps: &RecentSteps,
    ) -> bool {
        if !writes.has(self.word(), barrier) {
            return false;
        }
        let to = steps.find(line, self.reads());
        to.map(|to| self.set_reads(to, false)).is_some()
    }

    /// Records a store by a thread of `block`, if any write is before it and a barrier of the block orders the reads
    /// before it; not if the reads are the cell's own set.
    #[inline(always)]
    pub fn store(self, access: &Plain<true>, block: u32, sets: &ReaderSets) -> bool {
        let (known, reads) = (self.word(), self.reads());
        let is_replaced = (known == 0 || access.is_after_write(known))
            && !reads.is_own()
            && sets.is_settled_at(reads, block, access.barrier);
        if is_replaced {
            self.set_write(access.event, ReaderSet::NONE);
        }
        is_replaced
    }

    /// [`load`](Self::load) if the reads are the cell's own set and the warp, of this width, made the last read.
    #[inline]
    pub fn load_of_own(
        self,
        access: &Plain<false>,
        warp_width: u16,
        sets: &mut ReaderSets,
    ) -> bool {
        access.is_after_write(self.word())
            && sets.add_to_own(self.reads(), access.event, warp_width)
    }

    /// Records a load by a thread without a clock, if the write is before it and the step is known, or leads from one
    /// set that cells may share to another.
    #[inline]
    pub fn load_commonly(
        self,
        access: &Plain<false>,
        read: impl FnOnce() -> PlainRead,
        sets: &mut ReaderSets,
    ) -> Result<bool, OutOfMemory> {
        let (known, from) = (self.word(), self.reads());
        if !access.is_after_write(known) {
            return Ok(false);
        }
        let is_late = !access.is_after_barrier(known);
        if is_late && access.repeats(known) {
            return Ok(true);
        }
        let to = match sets.known_step(from, access.event, false) {
            Some(to) => Some(to),
            None if from.is_empty() || from.is_own() => None,
            None => sets.one_more(from, read())?,
        };
        Ok(to.map(|to| self.set_reads(to, is_late)).is_some())
    }

    /// [`load`](Self::load) if the step is not known.
    pub fn load_newly(
        self,
        access: &Plain<false>,
        accessor: &Accessor<'_>,
        sets: &mut ReaderSets,
    ) -> Result<bool, OutOfMemory> {
        let (known, from) = (self.word(), self.reads());
        let Ok(event) = access.event.event() else {
            return Ok(false);
        };
        let is_step = access.is_after_write(known) && !access.repeats(known) && !from.is_own();
        if is_step {
            let to = sets.new_step(from, &event, Some(access.event), accessor)?;
            self.set_reads(to, !access.is_after_barrier(known));
        }
        Ok(is_step)
    }

    /// [`store`](Self::store) if the reads are the cell's own set.
    #[inline]
    pub fn store_after_own(self, access: &Plain<true>, block: u32, sets: &mut ReaderSets) -> bool {
        let (known, mut reads) = (self.word(), self.reads());
        let is_replaced = reads.is_own()
            && access.is_after_write(known)
            && sets.is_settled_at(reads, block, access.barrier);
        if is_replaced {
            reads.clear(sets);
            self.set_write(access.event, reads);
        }
        is_replaced
    }

    #[inline(always)]
    fn set_write(self, write: Packed, reads: ReaderSet) {
        self.write.word.set(write.word);
        self.write.site.set(write.site);
        // Conservatively late: the next load on a fast path finds out.
        self.set_reads(reads, true);
    }

    /// Records an access, unless it is wrong: [`cell::Cell::record`].
    #[inline]
    pub fn record(
        self,
        event: &Event,
        accessor: &Accessor<'_>,
        (spilled, sets): (&mut Spilled<ReaderSet>, &mut ReaderSets),
    ) -> Result<bool, Conflict> {
        match self.get() {
            Ok(mut cell) => {
                let ends_release = cell.record(event, accessor, RULES, sets)?;
                self.set(cell, spilled)?;
                Ok(ends_release)
            }
            Err(number) => {
                let cell = &mut spilled.cells[number];
                let ends_release = cell.record(event, accessor, RULES, sets)?;
                self.take_back(number, spilled);
                Ok(ends_release)
            }
        }
    }

    /// Changes the state.
    pub fn change(
        self,
        spilled: &mut Spilled<ReaderSet>,
        action: impl FnOnce(&mut WholeCell),
    ) -> Result<(), OutOfMemory> {
        match self.get() {
            Ok(mut cell) => {
                action(&mut cell);
                self.set(cell, spilled)
            }
            Err(number) => {
                action(&mut spilled.cells[number]);
                self.take_back(number, spilled);
                Ok(())
            }
        }
    }

    /// The state of the cell, for sharing with other cells.
    pub fn share(self, spilled: &mut Spilled<ReaderSet>) -> WholeCell {
        let mut cell = self.get().unwrap_or_else(|number| spilled.take(number));
        cell.sets_mut().into_iter().for_each(ReaderSet::make_common);
        cell
    }

    /// The last writing access.
    pub fn last_write(self, spilled: &Spilled<ReaderSet>) -> Option<Event> {
        match self.get() {
            Ok(cell) => cell.last_write(),
            Err(number) => spilled.cells[number].last_write(),
        }
    }

    /// The state if the cell holds it, otherwise the number of the cell that does.
    #[inline]
    fn get(self) -> Result<WholeCell, usize> {
        let (word, site) = (self.word(), self.write.site.get());
        let write = Packed { word, site }.event()?;
        Ok(WholeCell::plain(write, self.reads()))
    }

    /// Sets the state of a cell that has no cell beside it.
    #[inline]
    pub fn set(self, cell: WholeCell, spilled: &mut Spilled<ReaderSet>) -> Result<(), OutOfMemory> {
        match as_words(&cell) {
            Some((write, reads)) => self.set_write(write, reads),
            None => {
                let number = spilled.add(cell)?;
                self.set_write(Packed::elsewhere(number), ReaderSet::NONE);
            }
        }
        Ok(())
    }

    /// Takes the state back from the cell of this number, if it fits.
    #[inline]
    fn take_back(self, number: usize, spilled: &mut Spilled<ReaderSet>) {
        if let Some((write, reads)) = as_words(&spilled.cells[number]) {
            spilled.take(number);
            self.set_write(write, reads);
        }
    }
}

/// The write and the reads of a cell, if it has no other state and the write fits.
#[inline]
fn as_words(cell: &WholeCell) -> Option<(Packed, ReaderSet)> {
    let write = cell.write.pack().filter(|_| cell.is_plain())?;
    Some((write, cell.reads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stay_small() {
        assert_eq!(size_of::<LastWrite>(), 16);
    }
}

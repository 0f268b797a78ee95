//! A cell of shared memory in 16 bytes, because each load and each store looks at one.
//!
//! It holds the last write and the number of the reads since then. Where more is known, or the write does not fit,
//! its cell is beside those of its page.

use super::accessor::Accessor;
use super::cell::{self, Conflict, Rules};
use super::event::packed::{Packed, WritesOf};
use super::event::{Event, Time};
use super::others::Others;
use super::plain::Plain;
use super::reader_sets::{ReaderSet, ReaderSets};
use super::readers::Reads;
use super::recent::{Line, RecentSteps};
use super::site::Site;
use crate::memory::OutOfMemory;
use std::cell::Cell;

/// A cell with what is known of it.
pub(super) type WholeCell = cell::Cell<ReaderSet>;

/// Shared memory holds nothing at first, and there is room for each of several readers.
const RULES: Rules = Rules {
    starts_unwritten: true,
    is_exact: true,
};

/// The last write of a few bytes and the reads since then, or the number of a [`WholeCell`].
#[derive(Clone)]
#[repr(align(16))]
pub(super) struct SharedCell {
    /// The word of the write's [`Packed`] event.
    word: Cell<u64>,
    /// The event's line.
    site: Cell<Site>,
    /// None where the word is a number.
    reads: Cell<ReaderSet>,
}

impl SharedCell {
    /// Nothing is known.
    pub const fn untouched() -> Self {
        Self {
            word: Cell::new(0),
            site: Cell::new(Site::UNKNOWN),
            reads: Cell::new(ReaderSet::NONE),
        }
    }

    /// The reads since the write.
    #[inline]
    pub fn reads(&self) -> ReaderSet {
        self.reads.get()
    }

    /// The same, to change them.
    #[inline]
    pub fn reads_mut(&mut self) -> &mut ReaderSet {
        self.reads.get_mut()
    }

    /// Records a load by a thread that has a clock or none, if the write is before it and the step that the load makes
    /// is known.
    #[inline(always)]
    pub fn load(&self, access: &Plain<false>, has_clock: bool, sets: &ReaderSets) -> bool {
        let known = self.word.get();
        if !access.is_after_write(known) {
            return false;
        }
        if access.repeats(known) {
            return true;
        }
        let to = sets.known_step(self.reads.get(), access.event, has_clock);
        to.map(|to| self.reads.set(to)).is_some()
    }

    /// Records a load at a line by the running thread, if the last barrier of the block, at this time, orders the write
    /// before it, which is one of `writes`, and the thread has made the step lately.
    #[inline(always)]
    pub fn load_again(
        &self,
        line: Line,
        (writes, barrier): (WritesOf, Time),
        steps: &RecentSteps,
    ) -> bool {
        if !writes.has(self.word.get(), barrier) {
            return false;
        }
        let to = steps.find(line, self.reads.get());
        to.map(|to| self.reads.set(to)).is_some()
    }

    /// Records a store of a thread of `block`, if there is no write or it is before the store, and a barrier of the block
    /// orders the reads before it; but not if the reads are a set of the cell's own.
    #[inline(always)]
    pub fn store(&self, access: &Plain<true>, block: u32, sets: &ReaderSets) -> bool {
        let (known, reads) = (self.word.get(), self.reads.get());
        let is_replaced = (known == 0 || access.is_after_write(known))
            && !reads.is_own()
            && sets.is_settled_at(reads, block, access.barrier);
        if is_replaced {
            self.set_write(access.event, ReaderSet::NONE);
        }
        is_replaced
    }

    /// Like [`load`](Self::load), where the reads are a set of the cell's own: if the warp, of this width, has read last.
    #[inline]
    pub fn load_of_own(
        &self,
        access: &Plain<false>,
        warp_width: u16,
        sets: &mut ReaderSets,
    ) -> bool {
        access.is_after_write(self.word.get())
            && sets.add_to_own(self.reads.get(), access.event, warp_width)
    }

    /// Like [`load`](Self::load), where the step is not known.
    pub fn load_newly(
        &self,
        access: &Plain<false>,
        accessor: &Accessor<'_>,
        sets: &mut ReaderSets,
    ) -> Result<bool, OutOfMemory> {
        let (known, from) = (self.word.get(), self.reads.get());
        let Ok(event) = access.event.event() else {
            return Ok(false);
        };
        let is_step = access.is_after_write(known) && !access.repeats(known) && !from.is_own();
        if is_step {
            let to = sets.new_step(from, &event, Some(access.event), accessor)?;
            self.reads.set(to);
        }
        Ok(is_step)
    }

    /// Like [`store`](Self::store), where the reads are a set of the cell's own.
    #[inline]
    pub fn store_after_own(&self, access: &Plain<true>, block: u32, sets: &mut ReaderSets) -> bool {
        let (known, mut reads) = (self.word.get(), self.reads.get());
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
    fn set_write(&self, write: Packed, reads: ReaderSet) {
        self.word.set(write.word);
        self.site.set(write.site);
        self.reads.set(reads);
    }

    /// Records an access, unless it must not be: [`cell::Cell::record`].
    #[inline]
    pub fn record(
        &mut self,
        event: &Event,
        accessor: &Accessor<'_>,
        (others, sets): (&mut Others<ReaderSet>, &mut ReaderSets),
    ) -> Result<bool, Conflict> {
        match self.get() {
            Ok(mut cell) => {
                let ends_release = cell.record(event, accessor, RULES, sets)?;
                self.set(cell, others)?;
                Ok(ends_release)
            }
            Err(number) => {
                let cell = &mut others.cells[number];
                let ends_release = cell.record(event, accessor, RULES, sets)?;
                self.take_back(number, others);
                Ok(ends_release)
            }
        }
    }

    /// Changes what is known.
    pub fn change(
        &mut self,
        others: &mut Others<ReaderSet>,
        action: impl FnOnce(&mut WholeCell),
    ) -> Result<(), OutOfMemory> {
        match self.get() {
            Ok(mut cell) => {
                action(&mut cell);
                self.set(cell, others)
            }
            Err(number) => {
                action(&mut others.cells[number]);
                self.take_back(number, others);
                Ok(())
            }
        }
    }

    /// What is known, for others to have it, too.
    pub fn share(&mut self, others: &mut Others<ReaderSet>) -> WholeCell {
        let mut cell = self.get().unwrap_or_else(|number| others.take(number));
        cell.sets_mut().into_iter().for_each(ReaderSet::make_common);
        cell
    }

    /// The last access that has written.
    pub fn last_write(&self, others: &Others<ReaderSet>) -> Option<Event> {
        match self.get() {
            Ok(cell) => cell.last_write(),
            Err(number) => others.cells[number].last_write(),
        }
    }

    /// What is known, if the cell holds it; or the number of the other one that does.
    #[inline]
    fn get(&self) -> Result<WholeCell, usize> {
        let (word, site) = (self.word.get(), self.site.get());
        let write = Packed { word, site }.event()?;
        Ok(WholeCell::plain(write, self.reads.get()))
    }

    /// Sets what is known, of a cell of which no other one knows more.
    #[inline]
    pub fn set(
        &mut self,
        cell: WholeCell,
        others: &mut Others<ReaderSet>,
    ) -> Result<(), OutOfMemory> {
        match as_words(&cell) {
            Some((write, reads)) => self.set_write(write, reads),
            None => {
                let number = others.add(cell)?;
                self.set_write(Packed::elsewhere(number), ReaderSet::NONE);
            }
        }
        Ok(())
    }

    /// Takes over what the other cell of this number knows, if it fits.
    #[inline]
    fn take_back(&mut self, number: usize, others: &mut Others<ReaderSet>) {
        if let Some((write, reads)) = as_words(&others.cells[number]) {
            others.take(number);
            self.set_write(write, reads);
        }
    }
}

/// The write and the reads of a cell, if there is no more to know and the write fits.
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
        assert_eq!(size_of::<SharedCell>(), 16);
    }
}

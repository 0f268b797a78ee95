//! A page of the shadow of shared memory: the cells of a few bytes.

use crate::check::accessor::Accessor;
use crate::check::cells::cell::Conflict;
use crate::check::cells::event::{Event, EventKind, Time};
use crate::check::cells::reader_sets::{ReaderSet, ReaderSets};
use crate::check::cells::readers::Reads;
use crate::check::cells::shared_cell::{LastWrite, SharedCell, WholeCell};
use crate::check::cells::shared_reads::CellReads;
use crate::check::cells::spilled::Spilled;
use crate::memory::{OutOfMemory, release_reserve};
use std::cell::Cell;
use std::ops::Range;

/// Bytes of memory in a page.
pub(in crate::check) const PAGE_BYTES: usize = 256;

/// The coarsest cells: the widest access is 16 bytes.
pub(in crate::check) const MAX_SHIFT: u32 = 4;

/// The same, in bytes.
pub(crate) const MAX_CELL_BYTES: usize = 1 << MAX_SHIFT;

/// In place of the width of cells, for a page that the block has not accessed.
pub(in crate::check) const NO_WIDTH: usize = usize::MAX;

/// Cells, as their writes and reads.
#[inline(always)]
pub(in crate::check) fn cells_of<'a>(
    writes: &'a [LastWrite],
    reads: &'a [Cell<ReaderSet>],
) -> impl Iterator<Item = SharedCell<'a>> {
    writes.iter().zip(reads).map(SharedCell::new)
}

/// Forgets the reads of page number `number`, whose cells are two to the power of `shift` bytes wide.
pub(in crate::check) fn forget_reads(reads: &CellReads, number: usize, shift: u32) {
    let reads = reads.of_bytes(number * PAGE_BYTES, PAGE_BYTES, shift);
    reads.iter().for_each(|reads| reads.set(ReaderSet::NONE));
}

/// The cells of [`PAGE_BYTES`] bytes, without their reads. They are as wide as the narrowest access so far, so that
/// neighbours in a word are kept apart.
pub(in crate::check) struct PageWrites {
    /// The width of a cell, or [`NO_WIDTH`].
    pub width: usize,
    /// The width of a cell is two to this power.
    pub shift: u32,
    pub writes: Vec<LastWrite>,
    /// Cells whose state does not fit.
    spilled: Spilled<ReaderSet>,
}

/// Memory for the writes of `count` cells.
fn room_for_writes(count: usize) -> Result<Vec<LastWrite>, OutOfMemory> {
    let mut writes = Vec::new();
    writes
        .try_reserve_exact(count)
        .map_err(|_| release_reserve())?;
    Ok(writes)
}

impl PageWrites {
    pub fn new() -> Result<Self, OutOfMemory> {
        let mut writes = room_for_writes(PAGE_BYTES >> MAX_SHIFT)?;
        writes.resize(PAGE_BYTES >> MAX_SHIFT, LastWrite::untouched());
        Ok(Self {
            width: NO_WIDTH,
            shift: MAX_SHIFT,
            writes,
            spilled: Spilled::default(),
        })
    }

    /// The cell of these bytes, if one has exactly these.
    #[inline(always)]
    pub fn cell_of<'a>(
        &'a self,
        reads: &'a CellReads,
        offset: usize,
        bytes: usize,
    ) -> Option<SharedCell<'a>> {
        let is_one = bytes == self.width && offset & (bytes - 1) == 0;
        let write = self.writes.get((offset % PAGE_BYTES) >> self.shift)?;
        let reads = reads.of_width(self.shift).get(offset >> self.shift)?;
        is_one.then_some(SharedCell::new((write, reads)))
    }

    /// Forgets all accesses of another block.
    pub fn begin_block(&mut self) {
        self.writes.fill(LastWrite::untouched());
        self.spilled.clear();
        self.width = 1 << self.shift;
    }

    /// The sets of accesses of the cells whose state does not fit.
    pub fn sets_of_others(&mut self) -> impl Iterator<Item = &Cell<ReaderSet>> {
        let sets = self.spilled.cells.iter_mut().flat_map(WholeCell::sets_mut);
        sets.map(|set| -> &Cell<ReaderSet> { Cell::from_mut(set) })
    }
}

/// A page that the block accesses.
pub(in crate::check) struct Page<'a> {
    number: usize,
    writes: &'a mut PageWrites,
    reads: &'a mut CellReads,
}

impl<'a> Page<'a> {
    /// Page number `number`.
    #[inline]
    pub fn new(number: usize, writes: &'a mut PageWrites, reads: &'a mut CellReads) -> Self {
        Self {
            number,
            writes,
            reads,
        }
    }

    /// Records an access of `bytes` bytes from `offset` on, unless it is wrong.
    #[inline]
    pub fn record(
        &mut self,
        offset: usize,
        bytes: usize,
        event: &Event,
        accessor: &Accessor<'_>,
        sets: &mut ReaderSets,
    ) -> Result<bool, Conflict> {
        let (cells, spilled) = self.cells(offset, bytes)?;
        let mut ends_release = false;
        for cell in cells {
            ends_release |= cell.record(event, accessor, (&mut *spilled, &mut *sets))?;
        }
        Ok(ends_release)
    }

    /// Records an access that writes `bytes` bytes from `offset` on, as the only one.
    pub fn overwrite(
        &mut self,
        offset: usize,
        bytes: usize,
        event: &Event,
        sets: &mut ReaderSets,
    ) -> Result<(), OutOfMemory> {
        let (mut cells, spilled) = self.cells(offset, bytes)?;
        cells.try_for_each(|cell| cell.change(spilled, |cell| cell.overwrite(event, sets)))
    }

    /// The last write of the first of these bytes whose write `is_wanted`.
    pub fn find_write(
        &mut self,
        offset: usize,
        bytes: usize,
        is_wanted: impl Fn(&Event) -> bool,
    ) -> Option<Event> {
        let shift = self.writes.shift;
        let (cells, spilled) =
            self.cells_at(offset >> shift..(offset + bytes).div_ceil(1 << shift));
        let mut writes = cells.filter_map(|cell| cell.last_write(spilled));
        writes.find(is_wanted)
    }

    /// Lets the copies of `writer`, a block and a thread, that are in flight to these bytes arrive.
    pub fn land(
        &mut self,
        offset: usize,
        bytes: usize,
        writer: (u32, u16),
        now: Time,
    ) -> Result<(), OutOfMemory> {
        let (mut cells, spilled) = self.cells(offset, bytes)?;
        cells.try_for_each(|cell| {
            cell.change(spilled, |cell| {
                let of_cell = (cell.write.block, cell.write.thread());
                if cell.write.kind == EventKind::InFlight && of_cell == writer {
                    cell.write.kind = EventKind::AsyncWrite;
                    cell.write.time = now;
                }
            })
        })
    }

    /// The cells of `bytes` bytes from `offset` on, split so that they hold no other bytes.
    #[inline]
    fn cells(
        &mut self,
        offset: usize,
        bytes: usize,
    ) -> Result<
        (
            impl Iterator<Item = SharedCell<'_>>,
            &mut Spilled<ReaderSet>,
        ),
        OutOfMemory,
    > {
        let shift = (offset | bytes).trailing_zeros();
        if shift < self.writes.shift {
            self.refine(shift)?;
        }
        let shift = self.writes.shift;
        Ok(self.cells_at(offset >> shift..(offset + bytes) >> shift))
    }

    /// The cells of these numbers in the page.
    #[inline]
    fn cells_at(
        &mut self,
        cells: Range<usize>,
    ) -> (
        impl Iterator<Item = SharedCell<'_>>,
        &mut Spilled<ReaderSet>,
    ) {
        let (start, page) = (self.number * PAGE_BYTES, &mut *self.writes);
        let reads = &self.reads.of_bytes(start, PAGE_BYTES, page.shift)[cells.clone()];
        (cells_of(&page.writes[cells], reads), &mut page.spilled)
    }

    #[cold]
    fn refine(&mut self, shift: u32) -> Result<(), OutOfMemory> {
        self.reads.make_room(shift)?;
        let (start, page) = (self.number * PAGE_BYTES, &mut *self.writes);
        let mut finer = room_for_writes(PAGE_BYTES >> shift)?;
        finer.resize(PAGE_BYTES >> shift, LastWrite::untouched());
        let copies = 1 << (page.shift - shift);
        let reads = self.reads.of_bytes(start, PAGE_BYTES, page.shift);
        let finer_reads = self.reads.of_bytes(start, PAGE_BYTES, shift);
        let mut copies_of = cells_of(&finer, finer_reads);
        let are_copied = cells_of(&page.writes, reads).try_for_each(|cell| {
            let known = cell.share(&mut page.spilled);
            let mut copies = copies_of.by_ref().take(copies);
            copies.try_for_each(|copy| copy.set(known.clone(), &mut page.spilled))
        });
        drop(copies_of);
        if are_copied.is_err() {
            forget_reads(self.reads, self.number, shift);
            return are_copied;
        }
        forget_reads(self.reads, self.number, page.shift);
        page.writes = finer;
        page.shift = shift;
        page.width = 1 << shift;
        Ok(())
    }
}

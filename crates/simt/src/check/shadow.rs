//! The shadow of shared memory: for each page, the last accesses of each few bytes.

use super::accessor::Accessor;
use super::cell::Conflict;
use super::event::{Event, EventKind, Time};
use super::others::Others;
use super::plain::Plain;
use super::reader_sets::{ReaderSet, ReaderSets};
use super::shared_cell::{SharedCell, WholeCell};
use crate::memory::{OutOfMemory, release_reserve};

/// Bytes of memory that one page stands for.
pub(super) const PAGE_BYTES: usize = 256;

/// The coarsest cells: the widest access is 16 bytes.
const MAX_SHIFT: u32 = 4;

/// In place of the width of the cells of a page that the block has not accessed.
const NO_WIDTH: usize = usize::MAX;

/// The shadow of the shared memory of the blocks that one state serves.
#[derive(Default)]
pub(super) struct SharedShadow {
    /// Counts the blocks.
    generation: u64,
    pages: Vec<SharedPage>,
    sets: ReaderSets,
}

/// A page of the shadow of shared memory.
struct SharedPage {
    /// The block whose accesses it holds.
    generation: u64,
    page: Page,
}

impl SharedShadow {
    /// Another block begins: nothing of its shared memory has been accessed.
    pub fn begin_block(&mut self) {
        self.generation += 1;
        self.sets.clear();
        self.pages
            .iter_mut()
            .for_each(|shared| shared.page.width = NO_WIDTH);
    }

    /// A page, and the reads of its cells.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for another page.
    #[inline]
    pub fn page(&mut self, number: usize) -> Result<(&mut Page, &mut ReaderSets), OutOfMemory> {
        if self.pages.len() <= number {
            self.add_pages(number + 1)?;
        }
        let shared = &mut self.pages[number];
        if shared.generation != self.generation {
            shared.generation = self.generation;
            shared.page.begin_block();
        }
        Ok((&mut shared.page, &mut self.sets))
    }

    /// The cell of these bytes, if they are those of one and the block has accessed its page, and two to which power
    /// its width is.
    #[inline(always)]
    pub fn cell_of(&self, offset: usize, bytes: usize) -> Option<(&SharedCell, u32)> {
        let page = &self.pages.get(offset / PAGE_BYTES)?.page;
        let is_one = bytes == page.width && offset & (bytes - 1) == 0;
        let cell = page.cells.get((offset % PAGE_BYTES) >> page.shift)?;
        is_one.then_some((cell, page.shift))
    }

    /// The same, with the reads of all cells.
    #[inline(always)]
    pub fn cell_and_sets(
        &mut self,
        (offset, bytes): (usize, usize),
    ) -> Option<(&SharedCell, &mut ReaderSets)> {
        match self.known_cells(offset, bytes)? {
            ([cell], sets) => Some((cell, sets)),
            _ => None,
        }
    }

    /// The reads of the cells.
    #[inline(always)]
    pub fn sets(&self) -> &ReaderSets {
        &self.sets
    }

    /// Records a load by a thread of a warp of this width that has a clock or none, of bytes that were all written
    /// before, if the step that it makes in each cell is known. Otherwise it has to be recorded in the pages.
    #[inline]
    pub fn record_known_read(
        &mut self,
        offset: usize,
        bytes: usize,
        access: &Plain<false>,
        (warp_width, has_clock): (u16, bool),
    ) -> bool {
        let Some((cells, sets)) = self.known_cells(offset, bytes) else {
            return false;
        };
        let mut cells = cells.iter();
        cells.all(|cell| {
            cell.load(access, has_clock, sets) || cell.load_of_own(access, warp_width, sets)
        })
    }

    /// Records a store by a thread of `block`, if the last barrier of the block or the thread itself orders all that is
    /// known of the bytes before it. Otherwise it has to be recorded in the pages.
    #[inline]
    pub fn record_known_write(
        &mut self,
        offset: usize,
        bytes: usize,
        access: &Plain<true>,
        block: u32,
    ) -> bool {
        let Some((cells, sets)) = self.known_cells(offset, bytes) else {
            return false;
        };
        let mut cells = cells.iter();
        cells.all(|cell| {
            cell.store(access, block, sets) || cell.store_after_own(access, block, sets)
        })
    }

    /// The cells of these bytes, if there are cells of these bytes alone, in one page.
    #[inline]
    fn known_cells(
        &mut self,
        offset: usize,
        bytes: usize,
    ) -> Option<(&[SharedCell], &mut ReaderSets)> {
        let within = offset % PAGE_BYTES;
        let page = &self.pages.get(offset / PAGE_BYTES)?.page;
        let is_whole = page.width != NO_WIDTH && (offset | bytes).trailing_zeros() >= page.shift;
        let cells = within >> page.shift..(within + bytes) >> page.shift;
        let cells = page.cells.get(cells).filter(|_| is_whole)?;
        Some((cells, &mut self.sets))
    }

    #[cold]
    fn add_pages(&mut self, count: usize) -> Result<(), OutOfMemory> {
        while self.pages.len() < count {
            self.pages.try_reserve(1).map_err(|_| release_reserve())?;
            self.pages.push(SharedPage {
                generation: 0,
                page: Page::new()?,
            });
        }
        Ok(())
    }

    /// So many steps between sets have been found elsewhere.
    #[inline]
    pub fn note_found(&mut self, steps: u32) {
        self.sets.note_found(steps);
    }

    /// Whether there are so many sets that those which no cell has any more should be forgotten.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.sets.is_full()
    }

    /// Forgets the sets that no cell has any more, and gives the others other numbers.
    #[cold]
    pub fn collect_sets(&mut self) -> Result<(), OutOfMemory> {
        let generation = self.generation;
        let pages = self.pages.iter_mut();
        let in_use = pages.filter(|shared| shared.generation == generation);
        self.sets
            .keep(in_use.flat_map(|shared| shared.page.sets_mut()))
    }
}

/// The cells of [`PAGE_BYTES`] bytes. They are as wide as the narrowest access
/// so far, so that neighbours in one word are not taken for each other.
pub(super) struct Page {
    /// The width of a cell, or [`NO_WIDTH`].
    width: usize,
    /// The width of a cell is two to this power.
    shift: u32,
    cells: Vec<SharedCell>,
    /// The cells of which more is known.
    others: Others<ReaderSet>,
}

/// Room for `count` cells.
fn room_for_cells(count: usize) -> Result<Vec<SharedCell>, OutOfMemory> {
    let mut cells = Vec::new();
    cells
        .try_reserve_exact(count)
        .map_err(|_| release_reserve())?;
    Ok(cells)
}

impl Page {
    pub fn new() -> Result<Self, OutOfMemory> {
        let mut cells = room_for_cells(PAGE_BYTES >> MAX_SHIFT)?;
        cells.resize(PAGE_BYTES >> MAX_SHIFT, SharedCell::untouched());
        Ok(Self {
            width: NO_WIDTH,
            shift: MAX_SHIFT,
            cells,
            others: Others::default(),
        })
    }

    /// Forgets all accesses of another block.
    fn begin_block(&mut self) {
        self.cells.fill(SharedCell::untouched());
        self.others.clear();
        self.width = 1 << self.shift;
    }

    /// The sets of accesses that the cells have.
    fn sets_mut(&mut self) -> impl Iterator<Item = &mut ReaderSet> {
        let of_others = self.others.cells.iter_mut().flat_map(WholeCell::sets_mut);
        let cells = self.cells.iter_mut().map(SharedCell::reads_mut);
        cells.chain(of_others)
    }

    /// Records an access of `bytes` bytes from `offset` on, unless it must not be.
    #[inline]
    pub fn record(
        &mut self,
        offset: usize,
        bytes: usize,
        event: &Event,
        accessor: &Accessor<'_>,
        sets: &mut ReaderSets,
    ) -> Result<bool, Conflict> {
        let (cells, others) = self.cells(offset, bytes)?;
        let mut ends_release = false;
        for cell in cells {
            ends_release |= cell.record(event, accessor, (&mut *others, &mut *sets))?;
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
        let (cells, others) = self.cells(offset, bytes)?;
        cells
            .iter_mut()
            .try_for_each(|cell| cell.change(others, |cell| cell.overwrite(event, sets)))
    }

    /// The last write of the first of these bytes whose write `is_wanted`.
    pub fn find_write(
        &mut self,
        offset: usize,
        bytes: usize,
        is_wanted: impl Fn(&Event) -> bool,
    ) -> Result<Option<Event>, OutOfMemory> {
        let start = offset >> self.shift;
        let end = (offset + bytes).div_ceil(1 << self.shift);
        let cells = self.cells[start..end].iter();
        let mut writes = cells.filter_map(|cell| cell.last_write(&self.others));
        Ok(writes.find(is_wanted))
    }

    /// Lets the copies of `writer`, a block and a thread, that are in flight to these bytes arrive.
    pub fn land(
        &mut self,
        offset: usize,
        bytes: usize,
        writer: (u32, u16),
        now: Time,
    ) -> Result<(), OutOfMemory> {
        let (cells, others) = self.cells(offset, bytes)?;
        cells.iter_mut().try_for_each(|cell| {
            cell.change(others, |cell| {
                let of_cell = (cell.write.block, cell.write.thread());
                if cell.write.kind == EventKind::InFlight && of_cell == writer {
                    cell.write.kind = EventKind::AsyncWrite;
                    cell.write.time = now;
                }
            })
        })
    }

    /// The cells of `bytes` bytes from `offset` on, and of no other bytes.
    #[inline]
    fn cells(
        &mut self,
        offset: usize,
        bytes: usize,
    ) -> Result<(&mut [SharedCell], &mut Others<ReaderSet>), OutOfMemory> {
        let shift = (offset | bytes).trailing_zeros();
        if shift < self.shift {
            self.refine(shift)?;
        }
        let cells = offset >> self.shift..(offset + bytes) >> self.shift;
        Ok((&mut self.cells[cells], &mut self.others))
    }

    #[cold]
    fn refine(&mut self, shift: u32) -> Result<(), OutOfMemory> {
        let copies = 1 << (self.shift - shift);
        let mut finer = room_for_cells(self.cells.len() * copies)?;
        for cell in &mut self.cells {
            let known = cell.share(&mut self.others);
            for _ in 0..copies {
                let mut copy = SharedCell::untouched();
                copy.set(known.clone(), &mut self.others)?;
                finer.push(copy);
            }
        }
        self.cells = finer;
        self.shift = shift;
        self.width = 1 << shift;
        Ok(())
    }
}

/// Splits bytes from `start` on at the ends of pages of `PAGE` bytes: (page, offset, bytes).
#[inline]
pub(super) fn pages<const PAGE: usize>(
    start: usize,
    bytes: usize,
) -> impl Iterator<Item = (usize, usize, usize)> {
    let mut next = start;
    let end = start + bytes;
    std::iter::from_fn(move || {
        (next < end).then(|| {
            let (page, offset) = (next / PAGE, next % PAGE);
            let bytes = (PAGE - offset).min(end - next);
            next += bytes;
            (page, offset, bytes)
        })
    })
}

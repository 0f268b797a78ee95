//! The shadow of shared memory: for each page, the last accesses of every few bytes.

use crate::check::cells::reader_sets::{ReaderSet, ReaderSets};
use crate::check::cells::shared_cell::SharedCell;
use crate::check::cells::shared_page::{MAX_SHIFT, NO_WIDTH, PageWrites, cells_of, forget_reads};
use crate::check::cells::shared_reads::CellReads;
use crate::check::fast_paths::single_event::Plain;
use crate::memory::{OutOfMemory, release_reserve};
use std::cell::Cell;

pub(in crate::check) use crate::check::cells::shared_page::{PAGE_BYTES, Page};

/// The shadow of the shared memory of the blocks that one state serves.
#[derive(Default)]
pub(in crate::check) struct SharedShadow {
    /// Counts the blocks.
    generation: u64,
    pages: Vec<SharedPage>,
    /// Empty for cells of pages that the block has not accessed.
    reads: CellReads,
    sets: ReaderSets,
}

/// A page of the shadow of shared memory.
struct SharedPage {
    /// The block whose accesses it holds.
    generation: u64,
    page: PageWrites,
}

impl SharedShadow {
    /// Another block begins, which has not accessed its shared memory.
    pub fn begin_block(&mut self) {
        let generation = self.generation;
        self.generation += 1;
        self.sets.clear();
        for (number, shared) in self.pages.iter_mut().enumerate() {
            if shared.generation == generation {
                forget_reads(&self.reads, number, shared.page.shift);
            }
            shared.page.width = NO_WIDTH;
        }
    }

    /// A page, and the sets of reads of its cells.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for another page.
    #[inline]
    pub fn page(&mut self, number: usize) -> Result<(Page<'_>, &mut ReaderSets), OutOfMemory> {
        if self.pages.len() <= number {
            self.add_pages(number + 1)?;
        }
        let shared = &mut self.pages[number];
        if shared.generation != self.generation {
            shared.generation = self.generation;
            shared.page.begin_block();
        }
        let page = Page::new(number, &mut shared.page, &mut self.reads);
        Ok((page, &mut self.sets))
    }

    /// The cell of these bytes, if one has exactly these and the block has accessed its page, and the power of two that
    /// is its width.
    #[inline(always)]
    pub fn cell_of(&self, offset: usize, bytes: usize) -> Option<(SharedCell<'_>, u32)> {
        let page = &self.pages.get(offset / PAGE_BYTES)?.page;
        let cell = page.cell_of(&self.reads, offset, bytes)?;
        Some((cell, page.shift))
    }

    /// The reads of all cells, as if all were as wide as the cell of these bytes, and the power of two that is its
    /// width.
    pub fn reads_of_width(&self, bytes: usize) -> &[Cell<ReaderSet>] {
        self.reads.of_width(bytes.trailing_zeros())
    }

    /// The same, with the reads of all cells.
    #[inline(always)]
    pub fn cell_and_sets(
        &mut self,
        (offset, bytes): (usize, usize),
    ) -> Option<(SharedCell<'_>, &mut ReaderSets)> {
        let page = &self.pages.get(offset / PAGE_BYTES)?.page;
        let cell = page.cell_of(&self.reads, offset, bytes)?;
        Some((cell, &mut self.sets))
    }

    /// The reads of the cells.
    #[inline(always)]
    pub fn sets(&self) -> &ReaderSets {
        &self.sets
    }

    /// Records a load of written bytes by a thread of a warp of this width, with or without a clock, if its step in
    /// each cell is known. Otherwise the load must be recorded in the pages.
    #[inline]
    pub fn record_known_read(
        &mut self,
        offset: usize,
        bytes: usize,
        access: &Plain<false>,
        (warp_width, has_clock): (u16, bool),
    ) -> bool {
        let Some((mut cells, sets)) = self.known_cells(offset, bytes) else {
            return false;
        };
        cells.all(|cell| {
            cell.load(access, has_clock, sets) || cell.load_of_own(access, warp_width, sets)
        })
    }

    /// Records a store by a thread of `block`, if the block's last barrier or the thread itself orders all recorded
    /// accesses of the bytes before it. Otherwise the store must be recorded in the pages.
    #[inline]
    pub fn record_known_write(
        &mut self,
        offset: usize,
        bytes: usize,
        access: &Plain<true>,
        block: u32,
    ) -> bool {
        let Some((mut cells, sets)) = self.known_cells(offset, bytes) else {
            return false;
        };
        cells.all(|cell| {
            cell.store(access, block, sets) || cell.store_after_own(access, block, sets)
        })
    }

    /// The cells of these bytes, if cells of one page hold exactly these.
    #[inline]
    fn known_cells(
        &mut self,
        offset: usize,
        bytes: usize,
    ) -> Option<(impl Iterator<Item = SharedCell<'_>>, &mut ReaderSets)> {
        let within = offset % PAGE_BYTES;
        let page = &self.pages.get(offset / PAGE_BYTES)?.page;
        let is_whole = page.width != NO_WIDTH && (offset | bytes).trailing_zeros() >= page.shift;
        let cells = within >> page.shift..(within + bytes) >> page.shift;
        let writes = page.writes.get(cells).filter(|_| is_whole)?;
        let reads = self.reads.of_bytes(offset, bytes, page.shift);
        Some((cells_of(writes, reads), &mut self.sets))
    }

    #[cold]
    fn add_pages(&mut self, count: usize) -> Result<(), OutOfMemory> {
        self.reads.make_room(MAX_SHIFT)?;
        while self.pages.len() < count {
            self.pages.try_reserve(1).map_err(|_| release_reserve())?;
            self.pages.push(SharedPage {
                generation: 0,
                page: PageWrites::new()?,
            });
        }
        Ok(())
    }

    /// This many steps between sets have been found elsewhere.
    #[inline]
    pub fn note_found(&mut self, steps: u32) {
        self.sets.note_found(steps);
    }

    /// Whether the sets without a cell should be forgotten, because there are too many.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.sets.is_full()
    }

    /// Forgets the sets without a cell, and renumbers the others.
    #[cold]
    pub fn collect_sets(&mut self) -> Result<(), OutOfMemory> {
        let generation = self.generation;
        let pages = self.pages.iter_mut().enumerate();
        let in_use = pages.filter(|(_, shared)| shared.generation == generation);
        let reads = &self.reads;
        self.sets.keep(in_use.flat_map(|(number, shared)| {
            let of_cells = reads.of_bytes(number * PAGE_BYTES, PAGE_BYTES, shared.page.shift);
            of_cells.iter().chain(shared.page.sets_of_others())
        }))
    }
}

/// Splits bytes from `start` on at the ends of pages of `PAGE` bytes: (page, offset, bytes).
#[inline]
pub(in crate::check) fn pages<const PAGE: usize>(
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

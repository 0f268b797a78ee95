//! The shadow of shared memory: for each page, the last accesses of each few bytes.

use super::accessor::Accessor;
use super::cell::{self, Conflict, Rules};
use super::event::{Event, EventKind, Time};
use super::reader_sets::{ReaderSet, ReaderSets};
use crate::memory::{OutOfMemory, release_reserve};

/// Bytes of memory that one page stands for.
pub(super) const PAGE_BYTES: usize = 256;

/// The coarsest cells: the widest access is 16 bytes.
const MAX_SHIFT: u32 = 4;

/// The reads of many cells are the same: a cell has their number.
type Cell = cell::Cell<ReaderSet>;

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
        if self.sets.is_full() {
            self.collect_sets()?;
        }
        let shared = &mut self.pages[number];
        if shared.generation != self.generation {
            shared.generation = self.generation;
            shared.page.clear();
        }
        Ok((&mut shared.page, &mut self.sets))
    }

    /// Records a read after the barrier of its block at time `barrier`, by a thread of a warp of this
    /// width that has a clock or none: if all of the bytes were written before, and such reads of such
    /// cells are known. Otherwise the read has to be recorded in the pages.
    #[inline]
    pub fn record_known_read(
        &mut self,
        offset: usize,
        bytes: usize,
        event: &Event,
        (warp_width, has_clock): (u16, bool),
        barrier: Time,
    ) -> bool {
        let Some((cells, sets)) = self.known_cells(offset, bytes) else {
            return false;
        };
        cells.iter_mut().all(|cell| {
            cell.is_written_before(event.block, barrier)
                && match sets.quick_step(cell.reads, event, warp_width, has_clock) {
                    Some(to) => {
                        cell.reads = to;
                        true
                    }
                    None => false,
                }
        })
    }

    /// Records a plain write after the barrier of its block at time `barrier`, if the barrier or the
    /// thread itself orders all that is known of the bytes before it. Otherwise the write has to be
    /// recorded in the pages.
    #[inline]
    pub fn record_known_write(
        &mut self,
        offset: usize,
        bytes: usize,
        event: &Event,
        barrier: Time,
    ) -> bool {
        let Some((cells, sets)) = self.known_cells(offset, bytes) else {
            return false;
        };
        cells.iter_mut().all(|cell| {
            let is_replaced = cell.is_replaced_by_write(event, barrier)
                && sets.is_settled_at(cell.reads, event.block, barrier);
            if is_replaced {
                cell.overwrite(event, sets);
            }
            is_replaced
        })
    }

    /// The cells of these bytes, if there are cells of these bytes alone, in one page.
    #[inline]
    fn known_cells(
        &mut self,
        offset: usize,
        bytes: usize,
    ) -> Option<(&mut [Cell], &mut ReaderSets)> {
        let within = offset % PAGE_BYTES;
        let shared = self.pages.get_mut(offset / PAGE_BYTES)?;
        let shift = shared.page.shift;
        let is_whole =
            shared.generation == self.generation && (offset | bytes).trailing_zeros() >= shift;
        let cells = within >> shift..(within + bytes) >> shift;
        let cells = shared.page.cells.get_mut(cells).filter(|_| is_whole)?;
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

    /// Forgets the sets that no cell has any more.
    #[cold]
    fn collect_sets(&mut self) -> Result<(), OutOfMemory> {
        let generation = self.generation;
        let pages = self.pages.iter_mut();
        let in_use = pages.filter(|shared| shared.generation == generation);
        let cells = in_use.flat_map(|shared| &mut shared.page.cells);
        self.sets.keep(cells.flat_map(Cell::sets_mut))
    }
}

/// The cells of [`PAGE_BYTES`] bytes. They are as wide as the narrowest access
/// so far, so that neighbours in one word are not taken for each other.
pub(super) struct Page {
    /// The width of a cell is two to this power.
    shift: u32,
    cells: Vec<Cell>,
}

/// Room for `count` cells.
fn room_for_cells(count: usize) -> Result<Vec<Cell>, OutOfMemory> {
    let mut cells = Vec::new();
    cells
        .try_reserve_exact(count)
        .map_err(|_| release_reserve())?;
    Ok(cells)
}

impl Page {
    pub fn new() -> Result<Self, OutOfMemory> {
        let mut cells = room_for_cells(PAGE_BYTES >> MAX_SHIFT)?;
        cells.resize(PAGE_BYTES >> MAX_SHIFT, Cell::UNTOUCHED);
        Ok(Self {
            shift: MAX_SHIFT,
            cells,
        })
    }

    /// Forgets all accesses.
    pub fn clear(&mut self) {
        self.cells.fill(Cell::UNTOUCHED);
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
        let rules = Rules {
            starts_unwritten: true,
            is_exact: true,
        };
        let mut ends_release = false;
        for cell in self.cells(offset, bytes)? {
            ends_release |= cell.record(event, accessor, rules, sets)?;
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
        let cells = self.cells(offset, bytes)?.iter_mut();
        cells.for_each(|cell| cell.overwrite(event, sets));
        Ok(())
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
        let mut writes = self.cells[start..end].iter().filter_map(Cell::last_write);
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
        for cell in self.cells(offset, bytes)? {
            let of_cell = (cell.write.block, cell.write.thread());
            if cell.write.kind == EventKind::InFlight && of_cell == writer {
                cell.write.kind = EventKind::AsyncWrite;
                cell.write.time = now;
            }
        }
        Ok(())
    }

    /// The cells of `bytes` bytes from `offset` on, and of no other bytes.
    #[inline]
    fn cells(&mut self, offset: usize, bytes: usize) -> Result<&mut [Cell], OutOfMemory> {
        let shift = (offset | bytes).trailing_zeros();
        if shift < self.shift {
            self.refine(shift)?;
        }
        Ok(&mut self.cells[offset >> self.shift..(offset + bytes) >> self.shift])
    }

    #[cold]
    fn refine(&mut self, shift: u32) -> Result<(), OutOfMemory> {
        let copies = 1 << (self.shift - shift);
        let mut finer = room_for_cells(self.cells.len() * copies)?;
        for cell in &mut self.cells {
            cell.sets_mut().into_iter().for_each(ReaderSet::make_common);
            finer.extend(std::iter::repeat_n(cell.clone(), copies));
        }
        self.cells = finer;
        self.shift = shift;
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

//! The shadow of shared memory: for each page, the last accesses of each few bytes.

use super::accessor::Accessor;
use super::cell::{Cell, Conflict, Rules};
use super::event::{Event, EventKind, Time};
use crate::memory::{OutOfMemory, release_reserve};

/// Bytes of memory that one page stands for.
pub(super) const PAGE_BYTES: usize = 256;

/// The coarsest cells: the widest access is 16 bytes.
const MAX_SHIFT: u32 = 4;

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
        self.cells.iter_mut().for_each(Cell::clear);
    }

    /// Records an access of `bytes` bytes from `offset` on, unless it must not be.
    #[inline]
    pub fn record(
        &mut self,
        offset: usize,
        bytes: usize,
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<bool, Conflict> {
        let rules = Rules {
            starts_unwritten: true,
            is_exact: true,
        };
        let mut ends_release = false;
        for cell in self.cells(offset, bytes)? {
            ends_release |= cell.record(event, accessor, rules)?;
        }
        Ok(ends_release)
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
        for cell in &self.cells {
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

//! Shadow memory: for each few bytes of memory, who touched them last.
//!
//! The method is that of FastTrack (Flanagan and Freund, "FastTrack: efficient
//! and precise dynamic race detection", PLDI 2009): a cell keeps the last write
//! and the reads since then. Of reads that nothing orders among each other it
//! keeps two, from different warps or blocks where it can: a write that is not
//! ordered after all of them is hardly ever ordered after both. Atomic updates
//! need no order among each other: it keeps the last one, and whom else that
//! one stands for.

use super::clock::Knowledge;
use super::event::{Event, EventKind, Others, Time};
use crate::allocation::NoMemory;
use crate::reserve;
use std::ops::Range;

/// Bytes of memory that one page stands for.
pub(super) const PAGE_BYTES: usize = 256;

/// The coarsest cells: the widest access is 16 bytes.
const MAX_SHIFT: u32 = 4;

/// Why an access must not be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Conflict {
    /// The host has no memory left to remember the access.
    NoMemory,
    /// Nobody has written what is read.
    Unwritten,
    /// The host has freed what is accessed.
    Freed,
    /// Nothing orders the access after this one.
    Unordered(Event),
    /// The access comes upon this asynchronous copy, which is in flight.
    InFlight(Event),
}

/// The running thread, and what is ordered before it.
pub(super) struct Observer<'a> {
    pub block: u32,
    pub thread: u16,
    /// The threads of its warp.
    pub warp: Range<u16>,
    /// The last barrier of its block.
    pub block_barrier: Time,
    /// The last barrier of its whole warp.
    pub warp_barrier: Time,
    /// What else it knows.
    pub knowledge: Option<&'a Knowledge>,
}

impl Observer<'_> {
    /// Whether `event` happened before whatever the thread does now.
    #[inline]
    fn is_after(&self, event: &Event) -> bool {
        self.is_after_thread(event)
            && (event.others == Others::Nobody || self.is_after_others(event))
    }

    /// Whether that holds for the others too, who came before. The shadow does not
    /// know which they were: whoever has learned something that is no barrier of
    /// the grid is trusted to know of them.
    fn is_after_others(&self, event: &Event) -> bool {
        let by_barrier = match event.others {
            Others::OfOtherBlocks => false,
            Others::OfBlock => event.time <= self.block_barrier,
            _ => event.time <= self.block_barrier.max(self.warp_barrier),
        };
        by_barrier
            || self.knowledge.is_some_and(|known| {
                known.has_clocks() || event.time <= known.last_grid_barrier(event.block)
            })
    }

    /// What the thread has in common with that of `event`.
    fn relation(&self, event: &Event) -> Others {
        if event.block != self.block {
            Others::OfOtherBlocks
        } else if !self.warp.contains(&event.thread) {
            Others::OfBlock
        } else if event.thread != self.thread {
            Others::OfWarp
        } else {
            Others::Nobody
        }
    }

    #[inline]
    fn is_after_thread(&self, event: &Event) -> bool {
        if event.block == self.block {
            let by_barrier = event.time <= self.block_barrier || event.thread == self.thread;
            let by_warp = || event.time <= self.warp_barrier && self.warp.contains(&event.thread);
            if by_barrier || by_warp() {
                return true;
            }
        }
        self.knowledge
            .is_some_and(|known| event.time <= known.at(event.block, u32::from(event.thread)))
    }
}

/// What is remembered of the few bytes of a cell.
#[derive(Clone, Copy)]
struct Cell {
    write: Event,
    /// The last atomic update since the write.
    atomic: Event,
    /// Reads since the write.
    reads: [Event; 2],
}

impl Cell {
    const UNTOUCHED: Self = Self {
        write: Event::NOTHING,
        atomic: Event::NOTHING,
        reads: [Event::NOTHING; 2],
    };

    #[inline]
    fn record(
        &mut self,
        event: &Event,
        observer: &Observer<'_>,
        starts_unwritten: bool,
    ) -> Result<(), Conflict> {
        self.check_write(observer, starts_unwritten && event.kind.reads())?;
        if event.kind.is_atomic() {
            self.check_reads(observer)?;
            self.note_atomic(event, observer);
            return Ok(());
        }
        self.check_atomic(observer)?;
        if event.kind.writes() {
            self.check_reads(observer)?;
            self.note_write(event);
        } else {
            self.note_read(event, observer);
        }
        Ok(())
    }

    #[inline]
    fn check_write(&self, observer: &Observer<'_>, must_be_written: bool) -> Result<(), Conflict> {
        match self.write.kind {
            EventKind::Nothing if must_be_written && self.atomic.is_nothing() => {
                Err(Conflict::Unwritten)
            }
            EventKind::Nothing => Ok(()),
            EventKind::InFlight => Err(Conflict::InFlight(self.write)),
            _ if observer.is_after(&self.write) => Ok(()),
            _ => Err(Conflict::Unordered(self.write)),
        }
    }

    #[inline]
    fn check_reads(&self, observer: &Observer<'_>) -> Result<(), Conflict> {
        let unordered = self
            .reads
            .iter()
            .find(|read| !read.is_nothing() && !observer.is_after(read));
        unordered.map_or(Ok(()), |read| Err(Conflict::Unordered(*read)))
    }

    #[inline]
    fn check_atomic(&self, observer: &Observer<'_>) -> Result<(), Conflict> {
        if self.atomic.is_nothing() || observer.is_after(&self.atomic) {
            Ok(())
        } else {
            Err(Conflict::Unordered(self.atomic))
        }
    }

    /// The write stays: another thread's atomic update may race with it.
    fn note_atomic(&mut self, event: &Event, observer: &Observer<'_>) {
        let last = &self.atomic;
        let others = if last.is_nothing() || observer.is_after(last) {
            Others::Nobody
        } else {
            last.others.max(observer.relation(last))
        };
        self.atomic = Event { others, ..*event };
    }

    #[inline]
    fn note_write(&mut self, event: &Event) {
        *self = Self {
            write: *event,
            ..Self::UNTOUCHED
        };
    }

    #[inline]
    fn note_read(&mut self, event: &Event, observer: &Observer<'_>) {
        let [first, second] = &mut self.reads;
        if first.is_nothing() || observer.is_after(first) {
            *first = *event;
        } else if second.is_nothing() || observer.is_after(second) {
            *second = *event;
        } else if first.block == second.block {
            let is_elsewhere = |read: &Event| {
                read.block != observer.block || !observer.warp.contains(&read.thread)
            };
            if is_elsewhere(first) && is_elsewhere(second) {
                *second = *event;
            }
        }
    }
}

/// The cells of [`PAGE_BYTES`] bytes. They are as wide as the narrowest access
/// so far, so that neighbours in one word are not taken for each other.
pub(super) struct Page {
    /// The width of a cell is two to this power.
    shift: u32,
    cells: Vec<Cell>,
}

impl From<NoMemory> for Conflict {
    fn from(NoMemory: NoMemory) -> Self {
        Self::NoMemory
    }
}

/// Room for `count` cells.
fn room_for_cells(count: usize) -> Result<Vec<Cell>, NoMemory> {
    let mut cells = Vec::new();
    cells
        .try_reserve_exact(count)
        .map_err(|_| reserve::release())?;
    Ok(cells)
}

impl Page {
    pub fn new() -> Result<Self, NoMemory> {
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
        observer: &Observer<'_>,
        starts_unwritten: bool,
    ) -> Result<(), Conflict> {
        self.cells(offset, bytes)?
            .iter_mut()
            .try_for_each(|cell| cell.record(event, observer, starts_unwritten))
    }

    /// Lets the copies of `thread` that are in flight to these bytes arrive.
    pub fn land(
        &mut self,
        offset: usize,
        bytes: usize,
        thread: u16,
        now: Time,
    ) -> Result<(), NoMemory> {
        for cell in self.cells(offset, bytes)? {
            if cell.write.kind == EventKind::InFlight && cell.write.thread == thread {
                cell.write.kind = EventKind::AsyncWrite;
                cell.write.time = now;
            }
        }
        Ok(())
    }

    /// A write of these bytes by `block` after `time`.
    pub fn write_since(
        &mut self,
        offset: usize,
        bytes: usize,
        block: u32,
        time: Time,
    ) -> Result<Option<Event>, NoMemory> {
        let mut writes = self.cells(offset, bytes)?.iter().map(|cell| cell.write);
        Ok(writes.find(|write| write.block == block && write.time > time))
    }

    /// The cells of `bytes` bytes from `offset` on, and of no other bytes.
    #[inline]
    fn cells(&mut self, offset: usize, bytes: usize) -> Result<&mut [Cell], NoMemory> {
        let shift = (offset | bytes).trailing_zeros();
        if shift < self.shift {
            self.refine(shift)?;
        }
        Ok(&mut self.cells[offset >> self.shift..(offset + bytes) >> self.shift])
    }

    #[cold]
    fn refine(&mut self, shift: u32) -> Result<(), NoMemory> {
        let copies = 1 << (self.shift - shift);
        let mut finer = room_for_cells(self.cells.len() * copies)?;
        for cell in &self.cells {
            finer.extend(std::iter::repeat_n(*cell, copies));
        }
        self.cells = finer;
        self.shift = shift;
        Ok(())
    }
}

/// Splits bytes from `start` on at the ends of pages: (page, offset, bytes).
#[inline]
pub(super) fn pages(start: usize, bytes: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let mut next = start;
    let end = start + bytes;
    std::iter::from_fn(move || {
        (next < end).then(|| {
            let (page, offset) = (next / PAGE_BYTES, next % PAGE_BYTES);
            let bytes = (PAGE_BYTES - offset).min(end - next);
            next += bytes;
            (page, offset, bytes)
        })
    })
}

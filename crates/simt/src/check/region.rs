//! The shadow of a region of global memory.
//!
//! A cell that has seen one access, or reads that one event stands for, is 16 bytes: the event
//! itself. Others are kept beside the cells. Cells are atomic words, because blocks may run on
//! several host threads; those change them one at a time.

use super::accessor::Accessor;
use super::cell::{Cell, Conflict, Rules};
use super::event::{Event, EventKind, Time};
use super::read_only::ReadOnlyBytes;
use super::site::Site;
use crate::memory::{OutOfMemory, release_reserve};
use bytemuck::allocation::try_zeroed_slice_box;
use std::array::from_fn;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Bytes of memory that a region stands for.
pub(super) const REGION_BYTES: usize = 1 << 14;

/// The coarsest cells: the widest access is 16 bytes.
const MAX_SHIFT: u32 = 4;

/// While no more cells are kept beside the others, each of several readers is known.
const EXACT_CELLS: usize = 64;

/// The two words of an event for each cell.
type Cells = [AtomicU64];

/// The cells of [`REGION_BYTES`] bytes. They are as wide as the narrowest access
/// so far, so that neighbours in one word are not taken for each other.
pub(super) struct Region {
    /// The width of a cell is two to this power; more than [`MAX_SHIFT`] while there are none.
    shift: AtomicU32,
    /// By shift. Those of a larger one than `shift` are out of date.
    cells: [OnceLock<Box<Cells>>; MAX_SHIFT as usize + 1],
    /// The cells that more than one event is known of.
    others: Mutex<Others>,
    /// How many of those are in use.
    others_in_use: AtomicUsize,
    pub read_only: ReadOnlyBytes<REGION_BYTES>,
    /// Whether only one host thread uses the region.
    is_exclusive: bool,
}

/// The cells that more than one event is known of, by number.
#[derive(Default)]
struct Others {
    cells: Vec<Cell>,
    free: Vec<usize>,
}

impl Others {
    fn add(&mut self, cell: Cell) -> Result<usize, OutOfMemory> {
        if let Some(number) = self.free.pop() {
            self.cells[number] = cell;
            return Ok(number);
        }
        self.cells.try_reserve(1).map_err(|_| release_reserve())?;
        self.cells.push(cell);
        // So that a cell can always be made free.
        self.free
            .try_reserve(self.cells.len())
            .map_err(|_| release_reserve())?;
        Ok(self.cells.len() - 1)
    }

    fn remove(&mut self, number: usize) {
        self.cells[number].clear();
        self.free.push(number);
    }
}

/// Held while cells change, unless the region is exclusive; locked at the latest for other cells.
type Held<'a> = Option<MutexGuard<'a, Others>>;

impl Region {
    pub fn new(is_exclusive: bool) -> Self {
        Self {
            shift: AtomicU32::new(u32::MAX),
            cells: from_fn(|_| OnceLock::new()),
            others: Mutex::default(),
            others_in_use: AtomicUsize::new(0),
            read_only: ReadOnlyBytes::default(),
            is_exclusive,
        }
    }

    /// Records an access of `bytes` bytes from `offset` on, unless it must not be. True: it ends
    /// the release sequences that atomic updates have built here.
    #[inline]
    pub fn record(
        &self,
        offset: usize,
        bytes: usize,
        event: &Event,
        accessor: &Accessor<'_>,
    ) -> Result<bool, Conflict> {
        let mut held = self.hold();
        let mut ends_release = false;
        for words in self.cells(offset, bytes, &mut held)?.chunks_exact(2) {
            ends_release |= self.record_in(words, event, accessor, &mut held)?;
        }
        Ok(ends_release)
    }

    /// Records an access that writes `bytes` bytes from `offset` on, as the only one.
    pub fn overwrite(&self, offset: usize, bytes: usize, event: &Event) -> Result<(), OutOfMemory> {
        let mut held = self.hold();
        for words in self.cells(offset, bytes, &mut held)?.chunks_exact(2) {
            if let Err(number) = load(words) {
                self.lock(&mut held).remove(number);
                self.others_in_use.fetch_sub(1, Ordering::Relaxed);
            }
            store(words, event.to_words());
        }
        Ok(())
    }

    /// The last write of these bytes, if it is in the memory of the checks.
    pub fn last_write(&self, offset: usize, bytes: usize) -> Result<Option<Event>, OutOfMemory> {
        self.find(offset, bytes, Cell::last_write)
    }

    /// A write of these bytes by `block` after `time`.
    pub fn write_since(
        &self,
        offset: usize,
        bytes: usize,
        block: u32,
        time: Time,
    ) -> Result<Option<Event>, OutOfMemory> {
        let is_since = |write: &Event| write.block == block && write.time > time;
        self.find(offset, bytes, |cell| Some(cell.write).filter(is_since))
    }

    /// What `action` finds in the first cell of these bytes in which it finds something.
    fn find(
        &self,
        offset: usize,
        bytes: usize,
        action: impl Fn(&Cell) -> Option<Event>,
    ) -> Result<Option<Event>, OutOfMemory> {
        if self.shift.load(Ordering::Acquire) > MAX_SHIFT {
            return Ok(None);
        }
        let mut held = self.hold();
        let cells = self.cells(offset, bytes, &mut held)?;
        Ok(cells.chunks_exact(2).find_map(|words| match load(words) {
            Ok(event) if event.is_nothing() => None,
            Ok(event) => action(&Cell::of(event)),
            Err(number) => action(&self.lock(&mut held).cells[number]),
        }))
    }

    /// The cells of `bytes` bytes from `offset` on, if there are cells of these bytes alone.
    #[inline]
    fn known_cells(&self, offset: usize, bytes: usize) -> Option<&[[AtomicU64; 2]]> {
        let shift = self.shift.load(Ordering::Acquire);
        let cells = self.cells.get(shift as usize)?.get()?;
        let is_whole = (offset | bytes).trailing_zeros() >= shift;
        let (first, last) = (offset >> shift, (offset + bytes) >> shift);
        cells.as_chunks().0.get(first..last).filter(|_| is_whole)
    }

    /// Whether several blocks have read each of the bytes: for one more reader that no fence
    /// orders, there is nothing to add.
    #[inline]
    pub fn is_read(&self, offset: usize, bytes: usize) -> bool {
        self.known_cells(offset, bytes).is_some_and(|cells| {
            cells
                .iter()
                .all(|[first, _]| Event::is_read_by_blocks(first.load(Ordering::Relaxed)))
        })
    }

    /// Records a plain access by a thread of a block that was at its last barrier at time `barrier`, if
    /// all that is known of each cell is replaced, or says more. Otherwise some may have been
    /// replaced: the access has to be recorded by [`record`](Self::record).
    #[inline]
    pub fn replace(&self, offset: usize, bytes: usize, event: &Event, barrier: Time) -> bool {
        let held = match self.is_exclusive {
            true => None,
            false => self.others.try_lock().ok(),
        };
        if !(self.is_exclusive || held.is_some()) || !self.read_only.is_empty() {
            return false;
        }
        self.known_cells(offset, bytes).is_some_and(|cells| {
            cells.iter().all(|[first, second]| {
                let known = [
                    first.load(Ordering::Relaxed),
                    second.load(Ordering::Relaxed),
                ];
                let replaces = event.replaces_words(known, barrier);
                if replaces {
                    let [one, other] = event.to_words();
                    first.store(one, Ordering::Relaxed);
                    second.store(other, Ordering::Relaxed);
                }
                replaces || event.kind == EventKind::Read && event.repeats_words(known)
            })
        })
    }

    /// Records a read through the read-only cache, unless it must not be: the reader does not matter,
    /// because no thread of the launch may write.
    #[inline]
    pub fn record_read_only(
        &self,
        offset: usize,
        bytes: usize,
        site: Site,
    ) -> Result<(), Conflict> {
        if !self.read_only.holds(offset, bytes) {
            self.read_only.add(offset, bytes, site)?;
        }
        match self.last_write(offset, bytes)? {
            Some(write) => Err(Conflict::Stale(write)),
            None => Ok(()),
        }
    }

    #[inline]
    fn record_in<'a>(
        &'a self,
        words: &Cells,
        event: &Event,
        accessor: &Accessor<'_>,
        held: &mut Held<'a>,
    ) -> Result<bool, Conflict> {
        let rules = Rules {
            starts_unwritten: false,
            is_exact: self.others_in_use.load(Ordering::Relaxed) < EXACT_CELLS,
        };
        match load(words) {
            Ok(known) if known.is_nothing() || event.replaces(&known, accessor) => {
                store(words, event.to_words());
                Ok(false)
            }
            Ok(known) => {
                let mut cell = Cell::of(known);
                let ends_release = cell.record(event, accessor, rules, &mut ())?;
                match cell.single() {
                    Some(event) => store(words, event.to_words()),
                    None => self.keep(words, cell, held)?,
                }
                Ok(ends_release)
            }
            Err(number) => {
                let others = self.lock(held);
                let cell = &mut others.cells[number];
                let ends_release = cell.record(event, accessor, rules, &mut ())?;
                if let Some(event) = cell.single() {
                    store(words, event.to_words());
                    others.remove(number);
                    self.others_in_use.fetch_sub(1, Ordering::Relaxed);
                }
                Ok(ends_release)
            }
        }
    }

    /// Keeps a cell beside the others.
    #[cold]
    fn keep<'a>(
        &'a self,
        words: &Cells,
        cell: Cell,
        held: &mut Held<'a>,
    ) -> Result<(), OutOfMemory> {
        let number = self.lock(held).add(cell)?;
        self.others_in_use.fetch_add(1, Ordering::Relaxed);
        store(words, Event::words_elsewhere(number));
        Ok(())
    }

    #[inline]
    fn hold(&self) -> Held<'_> {
        match self.is_exclusive {
            true => None,
            false => Some(self.guard()),
        }
    }

    fn lock<'a, 'held>(&'a self, held: &'held mut Held<'a>) -> &'held mut Others {
        held.get_or_insert_with(|| self.guard())
    }

    /// No panic leaves what the lock protects half done.
    #[inline]
    fn guard(&self) -> MutexGuard<'_, Others> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cells of `bytes` bytes from `offset` on, and of no other bytes.
    #[inline]
    fn cells<'a>(
        &'a self,
        offset: usize,
        bytes: usize,
        held: &mut Held<'a>,
    ) -> Result<&'a Cells, OutOfMemory> {
        let needed = (offset | bytes).trailing_zeros().min(MAX_SHIFT);
        let mut shift = self.shift.load(Ordering::Relaxed);
        if needed < shift {
            self.refine(needed, held)?;
            shift = needed;
        }
        match self.cells[shift as usize].get() {
            Some(cells) => Ok(range(cells, shift, offset, bytes)),
            None => unreachable!("the cells of the present width are there"),
        }
    }

    /// Makes cells of this width, with what is known of wider ones.
    #[cold]
    fn refine<'a>(&'a self, shift: u32, held: &mut Held<'a>) -> Result<(), OutOfMemory> {
        let cells = REGION_BYTES >> shift;
        let finer: Box<Cells> = try_zeroed_slice_box(2 * cells).map_err(|()| release_reserve())?;
        let before = self.shift.load(Ordering::Relaxed);
        if let Some(wider) = self.cells.get(before as usize).and_then(OnceLock::get) {
            let copies = 2 << (before - shift);
            for (words, copies) in wider.chunks_exact(2).zip(finer.chunks_exact(copies)) {
                self.copy(words, copies, held)?;
            }
        }
        self.cells[shift as usize].get_or_init(|| finer);
        self.shift.store(shift, Ordering::Release);
        Ok(())
    }

    /// Copies one cell to several.
    fn copy<'a>(
        &'a self,
        words: &Cells,
        copies: &Cells,
        held: &mut Held<'a>,
    ) -> Result<(), OutOfMemory> {
        for copy in copies.chunks_exact(2) {
            match load(words) {
                Ok(event) => store(copy, event.to_words()),
                Err(number) => {
                    let cell = self.lock(held).cells[number].clone();
                    self.keep(copy, cell, held)?;
                }
            }
        }
        Ok(())
    }
}

#[inline]
fn range(cells: &Cells, shift: u32, offset: usize, bytes: usize) -> &Cells {
    &cells[2 * (offset >> shift)..2 * ((offset + bytes) >> shift)]
}

#[inline]
fn load(words: &Cells) -> Result<Event, usize> {
    Event::of_words([0, 1].map(|word| words[word].load(Ordering::Relaxed)))
}

#[inline]
fn store(words: &Cells, values: [u64; 2]) {
    for (word, value) in words.iter().zip(values) {
        word.store(value, Ordering::Relaxed);
    }
}

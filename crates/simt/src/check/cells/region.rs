//! The shadow of a region of global memory.
//!
//! A cell with one access, or with reads that one event represents, takes 12 bytes: the event itself, if it fits.
//! Others are kept beside the cells.

use crate::basics::lock;
use crate::check::accessor::Accessor;
use crate::check::cells::cell::{Cell, Conflict, Rules};
use crate::check::cells::event::packed::Packed;
use crate::check::cells::event::{Event, Time};
use crate::check::cells::global_cells::{Cells, REGION_BYTES};
use crate::check::cells::read_only::ReadOnlyBytes;
use crate::check::cells::readers::Readers;
use crate::check::cells::site::Site;
use crate::check::cells::spilled::Spilled;
use crate::memory::OutOfMemory;
use std::array::from_fn;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// The coarsest cells: the widest access is 16 bytes.
const MAX_SHIFT: u32 = 4;

/// While no more cells than these are kept beside the others, each of several readers is kept.
const EXACT_CELLS: usize = 64;

/// The cells of [`REGION_BYTES`] bytes. They are as wide as the narrowest access so far, so that neighbours in a word
/// are kept apart.
pub(in crate::check) struct Region {
    /// The width of a cell is two to this power. More than [`MAX_SHIFT`] while there are no cells.
    shift: AtomicU32,
    /// By shift. Cells of a larger one than `shift` are out of date.
    cells: [OnceLock<Arc<Cells>>; MAX_SHIFT as usize + 1],
    /// Cells whose state is more than one event that fits.
    spilled: Mutex<Spilled<Readers>>,
    /// The number of those in use.
    others_in_use: AtomicUsize,
    pub read_only: ReadOnlyBytes<REGION_BYTES>,
    /// Whether only one host thread uses the region.
    is_exclusive: bool,
}

/// Held while cells change, unless the region is exclusive; locked at the latest for other cells.
type Held<'a> = Option<MutexGuard<'a, Spilled<Readers>>>;

impl Region {
    pub fn new(is_exclusive: bool) -> Self {
        Self {
            shift: AtomicU32::new(u32::MAX),
            cells: from_fn(|_| OnceLock::new()),
            spilled: Mutex::default(),
            others_in_use: AtomicUsize::new(0),
            read_only: ReadOnlyBytes::default(),
            is_exclusive,
        }
    }

    /// Records an access of `bytes` bytes from `offset` on, unless it is wrong. Returns whether it ends the release
    /// sequences that atomic updates have built here.
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
        let cells = self.cells(offset, bytes, &mut held)?;
        for cell in cells.numbers(offset, bytes) {
            ends_release |= self.record_in((cells, cell), event, accessor, &mut held)?;
        }
        Ok(ends_release)
    }

    /// Records an access that writes `bytes` bytes from `offset` on, as the only one.
    pub fn overwrite(&self, offset: usize, bytes: usize, event: &Event) -> Result<(), OutOfMemory> {
        let mut held = self.hold();
        let cells = self.cells(offset, bytes, &mut held)?;
        for cell in cells.numbers(offset, bytes) {
            if let Err(number) = cells.get(cell).event() {
                self.lock(&mut held).take(number);
                self.others_in_use.fetch_sub(1, Ordering::Relaxed);
            }
            self.set((cells, cell), Cell::of(*event), &mut held)?;
        }
        Ok(())
    }

    /// The last write of these bytes, if the checks still have it.
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

    /// The first event that `action` finds in the cells of these bytes.
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
        let mut numbers = cells.numbers(offset, bytes);
        Ok(numbers.find_map(|cell| match cells.get(cell).event() {
            Ok(event) if event.is_nothing() => None,
            Ok(event) => action(&Cell::of(event)),
            Err(number) => action(&self.lock(&mut held).cells[number]),
        }))
    }

    /// The region's cells, if it has any.
    pub fn present_cells(&self) -> Option<Arc<Cells>> {
        let shift = self.shift.load(Ordering::Acquire);
        self.cells.get(shift as usize)?.get().cloned()
    }

    /// Calls `action`, which changes cells, if no other host thread does and no read through the read-only cache makes
    /// plain accesses wrong.
    #[inline]
    pub fn change(&self, action: impl FnOnce() -> bool) -> bool {
        let held = match self.is_exclusive {
            true => None,
            false => self.spilled.try_lock().ok(),
        };
        (self.is_exclusive || held.is_some()) && self.read_only.is_empty() && action()
    }

    /// Whether there is memory to keep each of several readers of one more cell.
    #[inline]
    pub fn is_exact(&self) -> bool {
        self.others_in_use.load(Ordering::Relaxed) < EXACT_CELLS
    }

    /// Records a read through the read-only cache, unless it is wrong. The reader does not matter, because no thread of
    /// the launch may write.
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
        (cells, number): (&Cells, usize),
        event: &Event,
        accessor: &Accessor<'_>,
        held: &mut Held<'a>,
    ) -> Result<bool, Conflict> {
        let rules = Rules {
            starts_unwritten: false,
            is_exact: self.is_exact(),
        };
        match cells.get(number).event() {
            Ok(known) if known.is_nothing() || event.replaces(&known, accessor) => {
                match event.pack() {
                    Some(packed) => cells.set(number, packed),
                    None => self.keep((cells, number), Cell::of(*event), held)?,
                }
                Ok(false)
            }
            Ok(known) => {
                let mut cell = Cell::of(known);
                let ends_release = cell.record(event, accessor, rules, &mut ())?;
                self.set((cells, number), cell, held)?;
                Ok(ends_release)
            }
            Err(other) => {
                let spilled = self.lock(held);
                let cell = &mut spilled.cells[other];
                let ends_release = cell.record(event, accessor, rules, &mut ())?;
                if let Some(packed) = cell.single().and_then(|event| event.pack()) {
                    cells.set(number, packed);
                    spilled.take(other);
                    self.others_in_use.fetch_sub(1, Ordering::Relaxed);
                }
                Ok(ends_release)
            }
        }
    }

    /// Changes a cell that is not kept beside the others.
    #[inline]
    fn set<'a>(
        &'a self,
        (cells, number): (&Cells, usize),
        cell: Cell,
        held: &mut Held<'a>,
    ) -> Result<(), OutOfMemory> {
        match cell.single().and_then(|event| event.pack()) {
            Some(packed) => cells.set(number, packed),
            None => self.keep((cells, number), cell, held)?,
        }
        Ok(())
    }

    /// Keeps a cell beside the others.
    #[cold]
    fn keep<'a>(
        &'a self,
        (cells, number): (&Cells, usize),
        cell: Cell,
        held: &mut Held<'a>,
    ) -> Result<(), OutOfMemory> {
        let other = self.lock(held).add(cell)?;
        self.others_in_use.fetch_add(1, Ordering::Relaxed);
        cells.set(number, Packed::elsewhere(other));
        Ok(())
    }

    #[inline]
    fn hold(&self) -> Held<'_> {
        match self.is_exclusive {
            true => None,
            false => Some(lock(&self.spilled)),
        }
    }

    fn lock<'a, 'held>(&'a self, held: &'held mut Held<'a>) -> &'held mut Spilled<Readers> {
        held.get_or_insert_with(|| lock(&self.spilled))
    }

    /// The cells of `bytes` bytes from `offset` on, split so that they hold no other bytes.
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
            Some(cells) => Ok(cells),
            None => unreachable!("the cells of the present width are there"),
        }
    }

    /// Makes cells of this width, with the state of the wider ones.
    #[cold]
    fn refine<'a>(&'a self, shift: u32, held: &mut Held<'a>) -> Result<(), OutOfMemory> {
        let finer = Cells::new(shift)?;
        let before = self.shift.load(Ordering::Relaxed);
        let wider = self.cells.get(before as usize).and_then(OnceLock::get);
        if let Some(wider) = wider {
            for number in wider.numbers(0, REGION_BYTES) {
                let bytes = (number * wider.bytes(), wider.bytes());
                self.copy((wider, number), (&finer, bytes), held)?;
            }
        }
        self.cells[shift as usize].get_or_init(|| Arc::new(finer));
        self.shift.store(shift, Ordering::Release);
        if let Some(wider) = wider {
            wider.set_outdated();
        }
        Ok(())
    }

    /// Copies one cell to the cells of the same bytes.
    fn copy<'a>(
        &'a self,
        (wider, number): (&Cells, usize),
        (finer, (offset, bytes)): (&Cells, (usize, usize)),
        held: &mut Held<'a>,
    ) -> Result<(), OutOfMemory> {
        for copy in finer.numbers(offset, bytes) {
            let packed = wider.get(number);
            match packed.event() {
                Ok(_) => finer.set(copy, packed),
                Err(other) => {
                    let cell = self.lock(held).cells[other].clone();
                    self.keep((finer, copy), cell, held)?;
                }
            }
        }
        Ok(())
    }
}

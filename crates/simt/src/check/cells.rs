//! The cells of a region of global memory, of one width.
//!
//! A cell that has seen one access, or reads that one event stands for, is the event itself, and another
//! one the number of what is kept beside the cells. They are atomic words, because blocks may run on
//! several host threads; those change them one at a time.

use super::event::Event;
use super::plain::Plain;
use crate::memory::{OutOfMemory, release_reserve};
use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_slice_box;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Bytes of memory that a region stands for.
pub(super) const REGION_BYTES: usize = 1 << 14;

/// The two words of an event, or of a number that stands for more.
#[derive(Zeroable)]
#[repr(transparent)]
struct EventCell([AtomicU64; 2]);

impl EventCell {
    #[inline]
    fn words(&self) -> [u64; 2] {
        let [first, second] = &self.0;
        [
            first.load(Ordering::Relaxed),
            second.load(Ordering::Relaxed),
        ]
    }

    #[inline]
    fn set_words(&self, [first, second]: [u64; 2]) {
        self.0[0].store(first, Ordering::Relaxed);
        self.0[1].store(second, Ordering::Relaxed);
    }

    /// Records an access, which is `event`, if all that is known is replaced, or says more: never what
    /// several blocks have read.
    #[inline(always)]
    fn replace(&self, access: &Plain<'_>, event: impl Fn() -> Event) -> bool {
        let known = self.words();
        if access.replaces(known) {
            self.set_words(event().to_words());
            return true;
        }
        access.repeats(known)
    }
}

/// In place of a width: narrower cells have taken the place of these.
const OUTDATED: usize = usize::MAX;

/// The cells of [`REGION_BYTES`] bytes.
pub(super) struct Cells {
    /// The width of a cell in bytes, or [`OUTDATED`].
    width: AtomicUsize,
    /// The width is two to this power.
    shift: u32,
    /// Whether no other host thread uses them, and nothing has been read through the read-only cache.
    are_exclusive: AtomicBool,
    /// By cell, one bit: whether several blocks have read it. That is in `cells`, too, where it takes a
    /// hundred times the cache.
    read_by_blocks: Box<[AtomicU64]>,
    cells: Box<[EventCell]>,
}

impl Cells {
    /// Cells of two to the power of `shift` bytes each that no one has accessed.
    pub fn new(shift: u32, are_exclusive: bool) -> Result<Self, OutOfMemory> {
        let count = REGION_BYTES >> shift;
        Ok(Self {
            width: AtomicUsize::new(1 << shift),
            shift,
            are_exclusive: AtomicBool::new(are_exclusive),
            read_by_blocks: try_zeroed_slice_box(count / u64::BITS as usize)
                .map_err(|()| release_reserve())?,
            cells: try_zeroed_slice_box(count).map_err(|()| release_reserve())?,
        })
    }

    /// Whether narrower ones have taken their place.
    #[inline]
    pub fn are_outdated(&self) -> bool {
        self.width.load(Ordering::Acquire) == OUTDATED
    }

    /// Narrower ones have taken their place.
    pub fn set_outdated(&self) {
        self.width.store(OUTDATED, Ordering::Release);
    }

    /// Whether they may be changed without holding the region, and plain accesses are not wrong for what
    /// is read through the read-only cache.
    #[inline]
    pub fn are_exclusive(&self) -> bool {
        self.are_exclusive.load(Ordering::Acquire)
    }

    pub fn set_shared(&self) {
        self.are_exclusive.store(false, Ordering::Release);
    }

    /// A cell's width is two to this power.
    #[inline]
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// How many bytes a cell stands for.
    pub fn bytes(&self) -> usize {
        1 << self.shift
    }

    /// The numbers of the cells from the one that has the first of `bytes` bytes at `offset` to the one that
    /// has the last.
    #[inline]
    pub fn numbers(&self, offset: usize, bytes: usize) -> Range<usize> {
        offset >> self.shift..(offset + bytes) >> self.shift
    }

    /// The event of a cell, or the number that stands for more.
    #[inline]
    pub fn get(&self, cell: usize) -> Result<Event, usize> {
        Event::of_words(self.cells[cell].words())
    }

    /// Changes a cell; the caller holds the region, unless it is exclusive.
    #[inline]
    pub fn set(&self, cell: usize, event: Event) {
        self.set_words(cell, event.to_words());
    }

    /// Like [`set`](Self::set): what is known of the cell is elsewhere, under this number.
    pub fn set_number(&self, cell: usize, number: usize) {
        self.set_words(cell, Event::words_elsewhere(number));
    }

    #[inline]
    fn set_words(&self, cell: usize, words: [u64; 2]) {
        let bits = &self.read_by_blocks[cell / u64::BITS as usize];
        let (known, bit) = (
            bits.load(Ordering::Relaxed),
            1 << (cell % u64::BITS as usize),
        );
        let of_words = if Event::is_read_by_blocks(words[0]) {
            bit
        } else {
            0
        };
        if known & bit != of_words {
            bits.store(known ^ bit, Ordering::Relaxed);
        }
        self.cells[cell].set_words(words);
    }

    /// The number of the cell of these bytes, if they are those of one and the cells are not out of date.
    #[inline(always)]
    pub fn number_of(&self, offset: usize, bytes: usize) -> Option<usize> {
        let is_one = bytes == self.width.load(Ordering::Acquire) && offset & (bytes - 1) == 0;
        is_one.then_some(offset >> self.shift)
    }

    /// Whether several blocks have read the bytes of a cell: for one more reader that no fence orders, there
    /// is nothing to add.
    #[inline(always)]
    pub fn is_read(&self, cell: usize) -> bool {
        let bits = self.read_by_blocks.get(cell / u64::BITS as usize);
        bits.is_some_and(|bits| {
            bits.load(Ordering::Relaxed) >> (cell % u64::BITS as usize) & 1 == 1
        })
    }

    /// Records an access of a cell, which is `event`, if all that is known of the cell is replaced, or says
    /// more.
    #[inline(always)]
    pub fn replace_one(&self, cell: usize, access: &Plain<'_>, event: impl Fn() -> Event) -> bool {
        self.cells
            .get(cell)
            .is_some_and(|cell| cell.replace(access, event))
    }

    /// Whether several blocks have read each of the bytes.
    #[inline]
    pub fn are_read(&self, offset: usize, bytes: usize) -> bool {
        let mut numbers = self.numbers(offset, bytes);
        self.are_whole(offset, bytes) && numbers.all(|cell| self.is_read(cell))
    }

    /// Like [`replace_one`](Self::replace_one) of several cells. If it returns false, some may have been
    /// replaced: the access has to be recorded by the rules.
    #[inline]
    pub fn replace(
        &self,
        (offset, bytes): (usize, usize),
        access: &Plain<'_>,
        event: impl Fn() -> Event,
    ) -> bool {
        let cells = self.cells.get(self.numbers(offset, bytes));
        let mut cells = cells.into_iter().flatten();
        self.are_whole(offset, bytes) && cells.all(|cell| cell.replace(access, &event))
    }

    /// Whether there are cells of these bytes alone.
    #[inline]
    fn are_whole(&self, offset: usize, bytes: usize) -> bool {
        (offset | bytes).trailing_zeros() >= self.shift
    }
}

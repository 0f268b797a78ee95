//! The cells of a region of global memory, of one width.
//!
//! A cell with one access, or with reads that one event represents, is the event itself. Any other cell is the number
//! of an entry that is kept beside the cells. Cells are atomic words, because blocks may run on several host threads,
//! which change them one at a time.

use crate::check::cells::event::packed::Packed;
use crate::check::cells::site::Site;
use crate::check::fast_paths::single_event::Plain;
use crate::memory::{OutOfMemory, release_reserve};
use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_slice_box;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Bytes of memory in a region.
pub(in crate::check) const REGION_BYTES: usize = 1 << 14;

/// In place of a width: the cells must not be used.
const NONE: usize = usize::MAX;

/// The cells of [`REGION_BYTES`] bytes.
pub(in crate::check) struct Cells {
    /// The width of a cell in bytes, or [`NONE`] if narrower cells have replaced these.
    width: AtomicUsize,
    /// The width, or [`NONE`] if other host threads use the cells, something has been read through the read-only cache,
    /// or narrower cells have replaced these.
    exclusive_width: AtomicUsize,
    /// The width is two to this power.
    shift: u32,
    /// By cell, one bit: whether several blocks have read it. `words` has this too, but takes 64 times the cache.
    read_by_blocks: [AtomicU64; REGION_BYTES / u64::BITS as usize],
    /// By cell: the word of its [`Packed`] event. Most checks need nothing else.
    words: Box<[AtomicU64]>,
    /// By cell: the event's line.
    sites: Box<[AtomicU32]>,
}

impl Cells {
    /// Cells of two to the power of `shift` bytes that nothing has accessed.
    pub fn new(shift: u32, are_exclusive: bool) -> Result<Self, OutOfMemory> {
        let (count, width) = (REGION_BYTES >> shift, 1 << shift);
        Ok(Self {
            width: AtomicUsize::new(width),
            exclusive_width: AtomicUsize::new(if are_exclusive { width } else { NONE }),
            shift,
            read_by_blocks: Zeroable::zeroed(),
            words: zeroed(count)?,
            sites: zeroed(count)?,
        })
    }

    /// Whether narrower cells have replaced these.
    #[inline]
    pub fn are_outdated(&self) -> bool {
        self.width.load(Ordering::Acquire) == NONE
    }

    /// Narrower ones have taken their place.
    pub fn set_outdated(&self) {
        self.width.store(NONE, Ordering::Release);
        self.set_shared();
    }

    /// Whether the cells may be changed without the region's lock, and no read through the read-only cache makes plain
    /// accesses wrong.
    #[inline(always)]
    pub fn are_exclusive(&self) -> bool {
        self.exclusive_width.load(Ordering::Acquire) != NONE
    }

    /// From now on, changes need the region's lock, or reads through the read-only cache may make plain accesses wrong.
    pub fn set_shared(&self) {
        self.exclusive_width.store(NONE, Ordering::Release);
    }

    /// A cell's width is two to this power.
    #[inline]
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// The bytes of a cell.
    #[inline]
    pub fn bytes(&self) -> usize {
        1 << self.shift
    }

    /// The numbers of the cells that hold `bytes` bytes from `offset` on.
    #[inline]
    pub fn numbers(&self, offset: usize, bytes: usize) -> Range<usize> {
        offset >> self.shift..(offset + bytes) >> self.shift
    }

    /// The event of a cell, or the number of an entry.
    #[inline]
    pub fn get(&self, cell: usize) -> Packed {
        Packed {
            word: self.words[cell].load(Ordering::Relaxed),
            site: Site::of_bits(self.sites[cell].load(Ordering::Relaxed)),
        }
    }

    /// Changes a cell. The caller holds the region's lock, unless the region is exclusive.
    #[inline]
    pub fn set(&self, cell: usize, packed: Packed) {
        let bits = &self.read_by_blocks[cell / u64::BITS as usize];
        let known = bits.load(Ordering::Relaxed);
        let bit = 1 << (cell % u64::BITS as usize);
        if (known & bit != 0) != packed.is_read_by_blocks() {
            bits.store(known ^ bit, Ordering::Relaxed);
        }
        self.words[cell].store(packed.word, Ordering::Relaxed);
        self.sites[cell].store(packed.site.to_bits(), Ordering::Relaxed);
    }

    /// The number of the cell of these bytes, if one has exactly these and the cells are current.
    #[inline(always)]
    pub fn number_of(&self, offset: usize, bytes: usize) -> Option<usize> {
        self.number_of_width(offset, bytes, self.width.load(Ordering::Acquire))
    }

    /// [`number_of`](Self::number_of), if the cell may be changed without the region's lock and no read through the
    /// read-only cache makes plain accesses wrong.
    #[inline(always)]
    pub fn exclusive_number_of(&self, offset: usize, bytes: usize) -> Option<usize> {
        self.number_of_width(offset, bytes, self.exclusive_width.load(Ordering::Acquire))
    }

    #[inline(always)]
    fn number_of_width(&self, offset: usize, bytes: usize, width: usize) -> Option<usize> {
        let is_one = bytes == width && offset & (bytes - 1) == 0;
        is_one.then_some(offset >> self.shift)
    }

    /// Whether several blocks have read the bytes of a cell. One more reader that no fence orders then adds nothing.
    #[inline(always)]
    pub fn is_read(&self, cell: usize) -> bool {
        let bits = self.read_by_blocks.get(cell / u64::BITS as usize);
        bits.is_some_and(|bits| {
            bits.load(Ordering::Relaxed) >> (cell % u64::BITS as usize) & 1 == 1
        })
    }

    /// Records an access of a cell if it replaces the cell's state, or is implied by it; never if several blocks have
    /// read the cell.
    #[inline(always)]
    pub fn replace_one<const WRITES: bool>(&self, cell: usize, access: &Plain<WRITES>) -> bool {
        let (Some(word), Some(site)) = (self.words.get(cell), self.sites.get(cell)) else {
            return false;
        };
        let known = word.load(Ordering::Relaxed);
        if access.replaces(known) {
            word.store(access.event.word, Ordering::Relaxed);
            site.store(access.event.site.to_bits(), Ordering::Relaxed);
            return true;
        }
        access.repeats(known)
    }

    /// Records a load of a cell by a thread that no fence orders, if the cell then represents reads of several blocks.
    /// With `is_exact`, each of several readers is kept, so it does not.
    #[inline]
    pub fn join_one<const WRITES: bool>(
        &self,
        cell: usize,
        access: &Plain<WRITES>,
        is_exact: bool,
    ) -> bool {
        let known = self.get(cell);
        let joins = access.joins(known.word, is_exact);
        if joins {
            self.set(cell, known.standing_for_blocks());
        }
        joins
    }

    /// Whether several blocks have read each of the bytes.
    #[inline]
    pub fn are_read(&self, offset: usize, bytes: usize) -> bool {
        let mut numbers = self.numbers(offset, bytes);
        self.are_whole(offset, bytes) && numbers.all(|cell| self.is_read(cell))
    }

    /// [`replace_one`](Self::replace_one) for several cells. If it returns false, it may have replaced some; the rules
    /// must then record the access.
    #[inline]
    pub fn replace<const WRITES: bool>(
        &self,
        (offset, bytes): (usize, usize),
        access: &Plain<WRITES>,
    ) -> bool {
        let mut numbers = self.numbers(offset, bytes);
        self.are_whole(offset, bytes) && numbers.all(|cell| self.replace_one(cell, access))
    }

    /// Whether cells hold exactly these bytes.
    #[inline]
    fn are_whole(&self, offset: usize, bytes: usize) -> bool {
        (offset | bytes).trailing_zeros() >= self.shift
    }
}

fn zeroed<T: Zeroable>(count: usize) -> Result<Box<[T]>, OutOfMemory> {
    try_zeroed_slice_box(count).map_err(|()| release_reserve())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::cells::region::Region;

    #[test]
    fn cells_of_words_take_little_more_than_three_times_the_memory() {
        let cells = Cells::new(2, true).unwrap();
        let [words, sites] = [size_of_val(&*cells.words), size_of_val(&*cells.sites)];
        let bytes = size_of::<Region>() + size_of::<Cells>() + words + sites;
        assert!(bytes < REGION_BYTES * 16 / 5, "{bytes} bytes");
    }
}

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
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Bytes of memory in a region.
pub(in crate::check) const REGION_BYTES: usize = 1 << 14;

/// The cells of [`REGION_BYTES`] bytes.
pub(in crate::check) struct Cells {
    /// Whether narrower cells have replaced these.
    are_outdated: AtomicBool,
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
    pub fn new(shift: u32) -> Result<Self, OutOfMemory> {
        let count = REGION_BYTES >> shift;
        Ok(Self {
            are_outdated: AtomicBool::new(false),
            shift,
            read_by_blocks: Zeroable::zeroed(),
            words: zeroed(count)?,
            sites: zeroed(count)?,
        })
    }

    /// Whether narrower cells have replaced these.
    #[inline]
    pub fn are_outdated(&self) -> bool {
        self.are_outdated.load(Ordering::Acquire)
    }

    /// Narrower ones have taken their place.
    pub fn set_outdated(&self) {
        self.are_outdated.store(true, Ordering::Release);
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
        let cells = Cells::new(2).unwrap();
        let [words, sites] = [size_of_val(&*cells.words), size_of_val(&*cells.sites)];
        let bytes = size_of::<Region>() + size_of::<Cells>() + words + sites;
        assert!(bytes < REGION_BYTES * 16 / 5, "{bytes} bytes");
    }
}

//! The bytes of a region that a launch has read through the read-only cache.

use crate::check::cells::site::Site;
use crate::memory::{OutOfMemory, release_reserve, words_of_bits};
use bytemuck::allocation::try_zeroed_slice_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes of memory for one word of bits.
const WORD_BYTES: usize = u64::BITS as usize;

/// The bytes, among `BYTES`, that the launch has read through the read-only cache.
#[derive(Default)]
pub(in crate::check) struct ReadOnlyBytes<const BYTES: usize> {
    /// One bit for each byte, allocated at the first read.
    bits: OnceLock<Box<[AtomicU64]>>,
    /// For each word of bits, the line that set its first bit.
    sites: OnceLock<Box<[AtomicU32]>>,
}

impl<const BYTES: usize> ReadOnlyBytes<BYTES> {
    /// Whether no byte is known to be read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bits.get().is_none()
    }

    /// Whether all of these bytes are known to be read.
    #[inline]
    pub fn holds(&self, offset: usize, bytes: usize) -> bool {
        self.bits.get().is_some_and(|words| {
            let (word, first) = (offset / WORD_BYTES, offset % WORD_BYTES);
            if first + bytes <= WORD_BYTES && bytes != 0 {
                let bits = u64::MAX >> (WORD_BYTES - bytes) << first;
                return words[word].load(Ordering::Relaxed) & bits == bits;
            }
            words_of_bits(offset, offset + bytes)
                .all(|(word, bits)| words[word].load(Ordering::Relaxed) & bits == bits)
        })
    }

    /// Records that these bytes are read at `site`.
    #[cold]
    pub fn add(&self, offset: usize, bytes: usize, site: Site) -> Result<(), OutOfMemory> {
        let words = zeroed(&self.bits, BYTES / WORD_BYTES)?;
        let sites = zeroed(&self.sites, BYTES / WORD_BYTES)?;
        for (word, bits) in words_of_bits(offset, offset + bytes) {
            if words[word].load(Ordering::Relaxed) == 0 {
                sites[word].store(site.to_bits(), Ordering::Relaxed);
            }
            words[word].fetch_or(bits, Ordering::SeqCst);
        }
        Ok(())
    }

    /// The line that has read some of these bytes, or their neighbours.
    #[inline]
    pub fn reader(&self, offset: usize, bytes: usize) -> Option<Site> {
        let words = self.bits.get()?;
        let (word, _) = words_of_bits(offset, offset + bytes)
            .find(|(word, bits)| words[*word].load(Ordering::SeqCst) & bits != 0)?;
        let sites = self.sites.get()?;
        Some(Site::of_bits(sites[word].load(Ordering::Relaxed)))
    }
}

/// The words of `place`, allocated if there are none.
fn zeroed<T: bytemuck::Zeroable>(
    place: &OnceLock<Box<[T]>>,
    words: usize,
) -> Result<&[T], OutOfMemory> {
    if place.get().is_none() {
        let words = try_zeroed_slice_box(words).map_err(|()| release_reserve())?;
        // Another host thread may have allocated them first.
        place.get_or_init(|| words);
    }
    match place.get() {
        Some(words) => Ok(words),
        None => unreachable!("it has just been made"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    #[test]
    fn bytes_are_known_one_by_one() {
        let read = ReadOnlyBytes::<256>::default();
        let here = Location::caller();
        assert!(!read.holds(60, 8) && read.reader(0, 16).is_none());
        read.add(60, 8, Site::of(here)).unwrap();
        assert!(read.holds(60, 8) && read.holds(67, 1) && !read.holds(67, 2));
        let reader = |offset, bytes| read.reader(offset, bytes).map(|site| site.location());
        assert_eq!((reader(56, 4), reader(68, 60)), (None, None));
        assert_eq!(reader(64, 1), Some(Some(here)));
    }
}

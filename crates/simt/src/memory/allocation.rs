//! One allocation of global memory, and which of its bytes have been written.

use super::reserve::OutOfMemory;
use crate::basics::lock;
use bytemuck::allocation::try_zeroed_slice_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The contents of freshly allocated memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Contents {
    /// Undefined bytes, which a kernel must not read.
    Uninitialised,
    /// Values.
    Initialised,
}

/// One allocation of global memory.
pub(crate) struct Allocation {
    pub start: usize,
    pub bytes: usize,
    /// Whether all of the allocation is known to be written; `written` then does not matter.
    is_written: AtomicBool,
    /// One bit for each byte.
    written: Box<[AtomicU64]>,
    /// Whether the allocation has been freed.
    is_freed: bool,
    /// The host's name for it. Locked only under the lock of the list of allocations, for forks.
    name: Mutex<Option<Arc<str>>>,
}

/// The bytes of a part of an allocation that have been written.
pub(super) struct WrittenBytes {
    is_written: bool,
    words: Vec<u64>,
}

/// Bytes of memory per word of `written`.
const BYTES_PER_WORD: usize = 64;

impl Allocation {
    pub fn new(start: usize, bytes: usize, contents: Contents) -> Result<Self, OutOfMemory> {
        if contents == Contents::Initialised {
            return Ok(Self::written(start, bytes));
        }
        let words = bytes.div_ceil(BYTES_PER_WORD);
        Ok(Self {
            is_written: AtomicBool::new(false),
            written: try_zeroed_slice_box(words).map_err(|()| OutOfMemory)?,
            ..Self::written(start, bytes)
        })
    }

    /// Memory in which each byte counts as written.
    pub fn written(start: usize, bytes: usize) -> Self {
        Self {
            start,
            bytes,
            is_written: AtomicBool::new(true),
            written: Box::default(),
            is_freed: false,
            name: Mutex::default(),
        }
    }

    /// A former allocation.
    pub fn freed(start: usize, bytes: usize) -> Self {
        Self {
            is_freed: true,
            ..Self::written(start, bytes)
        }
    }

    /// The host's name for it, if it has one. Only `registry` calls this, under its lock.
    pub(super) fn name(&self) -> Option<Arc<str>> {
        lock(&self.name).clone()
    }

    /// Sets or removes its name. Only `registry` calls this, under its lock.
    pub(super) fn set_name(&self, name: Option<Arc<str>>) {
        *lock(&self.name) = name;
    }

    /// Whether the allocation has been freed.
    #[inline]
    pub fn is_freed(&self) -> bool {
        self.is_freed
    }

    /// The address after its last byte.
    #[inline]
    pub fn end(&self) -> usize {
        self.start.saturating_add(self.bytes)
    }

    #[inline]
    pub fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.start) < self.bytes
    }

    /// Whether all of it is known to be written.
    pub fn is_all_written(&self) -> bool {
        self.is_written.load(Ordering::Relaxed)
    }

    /// Whether all of `bytes` bytes from `address` on have been written.
    #[inline]
    pub fn is_written(&self, address: usize, bytes: usize) -> bool {
        self.is_written.load(Ordering::Relaxed)
            || self
                .words(address, bytes)
                .all(|(word, bits)| self.written[word].load(Ordering::Relaxed) & bits == bits)
    }

    /// The offset from `address` of the first of `bytes` bytes that has not been written.
    pub fn first_unwritten(&self, address: usize, bytes: usize) -> Option<usize> {
        if self.is_written.load(Ordering::Relaxed) {
            return None;
        }
        self.first_with(address, bytes, |written| !written)
    }

    /// The offset from `address` of the first of `bytes` bytes that has been written.
    pub fn first_written(&self, address: usize, bytes: usize) -> Option<usize> {
        if self.is_written.load(Ordering::Relaxed) {
            return (bytes > 0).then_some(0);
        }
        self.first_with(address, bytes, |written| written)
    }

    /// The offset from `address` of the first of `bytes` bytes whose bit is set in what `of` makes of a word of
    /// `written`.
    fn first_with(&self, address: usize, bytes: usize, of: fn(u64) -> u64) -> Option<usize> {
        self.words(address, bytes).find_map(|(word, bits)| {
            let found = bits & of(self.written[word].load(Ordering::Relaxed));
            let first = word * BYTES_PER_WORD + found.trailing_zeros() as usize;
            (found != 0).then(|| self.start + first - address)
        })
    }

    /// Notes that `bytes` bytes from `address` on have been written.
    #[inline]
    pub fn mark_written(&self, address: usize, bytes: usize) {
        if self.is_written.load(Ordering::Relaxed) {
            return;
        }
        if address == self.start && bytes >= self.bytes {
            self.is_written.store(true, Ordering::Relaxed);
            return;
        }
        for (word, bits) in self.words(address, bytes) {
            let written = &self.written[word];
            // Most bytes have been written before, and a load is much cheaper.
            if written.load(Ordering::Relaxed) & bits != bits {
                written.fetch_or(bits, Ordering::Relaxed);
            }
        }
    }

    /// The written bytes among `bytes` bytes from `address` on, and perhaps around them.
    pub(super) fn written_bytes(&self, address: usize, bytes: usize) -> WrittenBytes {
        let words = self.words(address, bytes);
        let known =
            words.filter_map(|(word, _)| Some(self.written.get(word)?.load(Ordering::Relaxed)));
        WrittenBytes {
            is_written: self.is_written.load(Ordering::Relaxed),
            words: known.collect(),
        }
    }

    /// Restores the record of written bytes from `address` on; afterwards `written` holds the record of before the
    /// call.
    pub(super) fn exchange_written(&self, address: usize, written: &mut WrittenBytes) {
        let first = (address - self.start) / BYTES_PER_WORD;
        for (word, known) in self.written.iter().skip(first).zip(&mut written.words) {
            *known = word.swap(*known, Ordering::Relaxed);
        }
        let is_written = &mut written.is_written;
        *is_written = self.is_written.swap(*is_written, Ordering::Relaxed);
    }

    /// The words of `written` for these bytes, each with a mask of their bits, up to the
    /// allocation's end.
    #[inline]
    fn words(&self, address: usize, bytes: usize) -> impl Iterator<Item = (usize, u64)> + use<> {
        let first = address - self.start;
        words_of_bits(first, first.saturating_add(bytes).min(self.bytes))
    }
}

/// The words of a list of bits that have the bits from `first` to `end`, each with a mask of them.
#[inline]
pub(crate) fn words_of_bits(first: usize, end: usize) -> impl Iterator<Item = (usize, u64)> {
    let words = first / BYTES_PER_WORD..end.div_ceil(BYTES_PER_WORD);
    // An empty range in the middle of a word.
    let words = if end > first { words } else { 0..0 };
    words.map(move |word| {
        let base = word * BYTES_PER_WORD;
        let from = first.saturating_sub(base);
        let to = (end - base).min(BYTES_PER_WORD);
        (word, u64::MAX >> (BYTES_PER_WORD - (to - from)) << from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bytes_are_written_wherever_they_are() {
        let allocation = Allocation::new(1000, 200, Contents::Uninitialised).unwrap();
        for address in [1000, 1001, 1064, 1199, 1200] {
            assert!(allocation.is_written(address, 0));
            assert_eq!(allocation.first_unwritten(address, 0), None);
            allocation.mark_written(address, 0);
        }
        assert!(!allocation.is_written(1000, 1));
    }

    #[test]
    fn written_bytes_are_known_one_by_one() {
        let allocation = Allocation::new(1000, 200, Contents::Uninitialised).unwrap();
        allocation.mark_written(1060, 70);
        assert!(allocation.is_written(1060, 70));
        assert!(!allocation.is_written(1059, 1));
        assert!(!allocation.is_written(1129, 2));
        assert_eq!(allocation.first_unwritten(1000, 200), Some(0));
        assert_eq!(allocation.first_unwritten(1060, 71), Some(70));
        assert_eq!(allocation.first_unwritten(1060, 70), None);
        assert_eq!(allocation.first_written(1000, usize::MAX), Some(60));
        assert_eq!(allocation.first_written(1100, 100), Some(0));
        assert_eq!(allocation.first_written(1130, 70), None);
        assert!(allocation.is_written(1064, 64));
        allocation.mark_written(1000, 200);
        assert!(allocation.is_written(1000, 200));
    }
}

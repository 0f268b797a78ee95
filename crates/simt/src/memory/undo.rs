//! What a launch has changed in global memory, so that it can be undone.

use super::allocation::{Allocation, WrittenBytes};
use super::words::{copy_from_global, copy_to_global};
use std::collections::HashSet;
use std::ops::Range;
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the memory that a launch accesses has held before.
pub(crate) struct Undo {
    kept: Mutex<Kept>,
    /// No more bytes than these are kept.
    most_bytes: usize,
}

#[derive(Default)]
struct Kept {
    /// In the order in which they were kept.
    parts: Vec<Part>,
    /// The allocation and the first byte of each.
    known: HashSet<(usize, usize)>,
    bytes: usize,
    is_incomplete: bool,
}

/// A part of an allocation.
struct Part {
    allocation: Arc<Allocation>,
    address: usize,
    contents: Box<[u8]>,
    written: WrittenBytes,
}

impl Undo {
    /// Nothing is kept yet.
    pub fn new(most_bytes: usize) -> Self {
        Self {
            kept: Mutex::default(),
            most_bytes,
        }
    }

    /// Keeps what the allocation holds now at these addresses, as far as they are in it, unless it has done so before.
    pub fn keep(&self, allocation: &Arc<Allocation>, addresses: Range<usize>) {
        let start = addresses.start.max(allocation.start);
        let bytes = addresses.end.min(allocation.end()).saturating_sub(start);
        let mut kept = self.lock();
        if allocation.is_freed() || bytes == 0 || !kept.known.insert((allocation.start, start)) {
            return;
        }
        kept.bytes += bytes;
        kept.is_incomplete |= kept.bytes > self.most_bytes;
        if !kept.is_incomplete {
            kept.parts.push(Part {
                allocation: Arc::clone(allocation),
                address: start,
                contents: read(start, bytes),
                written: allocation.written_bytes(start, bytes),
            });
        }
    }

    /// Whether all that the launch has accessed is kept.
    pub fn is_complete(&self) -> bool {
        !self.lock().is_incomplete
    }

    /// Puts back what is kept, and keeps what was there: once more undoes this.
    pub fn exchange(&self) {
        let parts = &mut self.lock().parts;
        // Parts of one allocation share what is known of their ends: the first one has known it first.
        parts.reverse();
        parts.iter_mut().for_each(Part::exchange);
    }

    /// No panic leaves what the lock protects half done.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Part {
    fn exchange(&mut self) {
        let bytes = self.contents.len();
        let present = read(self.address, bytes);
        // What is only read may be in memory that cannot be written.
        if present != self.contents {
            let target = with_exposed_provenance_mut(self.address);
            // SAFETY: (1) the allocation has the bytes, and a kernel may write them. (2) Whoever has registered the
            // allocation lets launches alone access it, by the functions of this crate.
            unsafe { copy_to_global(target, self.contents.as_ptr(), bytes) };
            self.contents = present;
        }
        self.allocation
            .exchange_written(self.address, &mut self.written);
    }
}

/// What global memory holds at an address.
fn read(address: usize, bytes: usize) -> Box<[u8]> {
    let mut contents = vec![0; bytes].into_boxed_slice();
    // SAFETY: (1) the caller's allocation has the bytes. (2) As for the write of `exchange`.
    unsafe {
        copy_from_global(
            contents.as_mut_ptr(),
            with_exposed_provenance(address),
            bytes,
        )
    };
    contents
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Contents;

    /// An allocation of 256 bytes, the first of which have these values and are written.
    fn allocation(memory: &mut [u8; 256], written: usize) -> Arc<Allocation> {
        let address = memory.as_mut_ptr().expose_provenance();
        let allocation = Allocation::new(address, 256, Contents::Uninitialised).unwrap();
        allocation.mark_written(address, written);
        Arc::new(allocation)
    }

    #[test]
    fn what_a_launch_has_written_is_undone_and_done_again() {
        let mut memory = [7; 256];
        let allocation = allocation(&mut memory, 100);
        let start = allocation.start;
        let undo = Undo::new(256);
        undo.keep(&allocation, start..start + 100);
        let write = |offset: usize| {
            // SAFETY: (1) the array has the byte. (2) No other thread knows it.
            unsafe { copy_to_global(with_exposed_provenance_mut(start + offset), &9, 1) };
            allocation.mark_written(start + offset, 1);
        };
        write(3);
        // The bits of its first bytes are in one word with those of the last ones before.
        undo.keep(&allocation, start + 100..start + 300);
        undo.keep(&allocation, start..start + 100);
        write(101);
        let state = || {
            let contents = read(start, 256);
            let written = (0..256).filter(|byte| allocation.is_written(start + byte, 1));
            (contents, written.count())
        };
        let after = state();
        undo.exchange();
        assert_eq!(state(), (vec![7; 256].into_boxed_slice(), 100));
        undo.exchange();
        assert_eq!(state(), after);
        assert_eq!((after.0[3], after.0[101], after.1), (9, 9, 101));
        assert!(undo.is_complete());
    }

    #[test]
    fn more_than_the_limit_is_not_kept() {
        let mut memory = [7; 256];
        let allocation = allocation(&mut memory, 256);
        let undo = Undo::new(255);
        undo.keep(&allocation, 0..usize::MAX);
        assert!(!undo.is_complete());
    }
}

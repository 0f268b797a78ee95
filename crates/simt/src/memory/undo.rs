//! The old contents of global memory that a launch has changed, so that it can be undone.

use super::allocation::{Allocation, WrittenBytes};
use super::reserve::{OutOfMemory, release};
use super::words::{copy_from_global, copy_to_global};
use crate::basics::lock;
use bytemuck::allocation::try_zeroed_slice_box;
use std::collections::HashSet;
use std::ops::Range;
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use std::sync::{Arc, Mutex};

/// The number of bytes restored at a time.
const BYTES_AT_ONCE: usize = 256;

/// The earlier contents of the memory that a launch accesses.
pub(crate) struct Undo {
    kept: Mutex<Kept>,
    /// If the launch accesses more bytes than this, nothing is kept; none if everything must be.
    most_bytes: Option<usize>,
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
    /// Keeps nothing yet. If the launch accesses more than `most_bytes`, it will keep nothing.
    pub fn new(most_bytes: Option<usize>) -> Self {
        Self {
            kept: Mutex::default(),
            most_bytes,
        }
    }

    /// Keeps the current contents of these addresses within the allocation, unless they are kept already.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left for contents that must be kept.
    pub fn keep(
        &self,
        allocation: &Arc<Allocation>,
        addresses: Range<usize>,
    ) -> Result<(), OutOfMemory> {
        let start = addresses.start.max(allocation.start);
        let bytes = addresses.end.min(allocation.end()).saturating_sub(start);
        let mut kept = lock(&self.kept);
        let key = (allocation.start, start);
        if allocation.is_freed() || bytes == 0 || kept.is_incomplete || kept.known.contains(&key) {
            return Ok(());
        }
        kept.bytes += bytes;
        let is_too_much = self.most_bytes.is_some_and(|most| kept.bytes > most);
        let part = match is_too_much {
            true => Err(OutOfMemory),
            false => Part::new(allocation, start, bytes),
        };
        match (part, self.most_bytes) {
            (Ok(part), _) => {
                kept.known.insert(key);
                kept.parts.push(part);
            }
            (Err(error), None) => return Err(error),
            (Err(_), Some(_)) => {
                *kept = Kept {
                    is_incomplete: true,
                    ..Kept::default()
                };
            }
        }
        Ok(())
    }

    /// Whether everything that the launch has accessed is kept.
    pub fn is_complete(&self) -> bool {
        !lock(&self.kept).is_incomplete
    }

    /// Exchanges the kept contents with the present ones, so that a second call undoes the first.
    pub fn exchange(&self) {
        let parts = &mut lock(&self.kept).parts;
        // Neighbouring parts share words of `written` at their ends. The part that was kept first has the oldest
        // state, and is restored last.
        parts.reverse();
        parts.iter_mut().for_each(Part::exchange);
    }
}

impl Part {
    fn new(
        allocation: &Arc<Allocation>,
        address: usize,
        bytes: usize,
    ) -> Result<Self, OutOfMemory> {
        let mut contents = try_zeroed_slice_box(bytes).map_err(|()| release())?;
        read(address, &mut contents);
        Ok(Self {
            allocation: Arc::clone(allocation),
            address,
            contents,
            written: allocation.written_bytes(address, bytes),
        })
    }

    fn exchange(&mut self) {
        let mut address = self.address;
        for kept in self.contents.chunks_mut(BYTES_AT_ONCE) {
            let mut present = [0; BYTES_AT_ONCE];
            let present = &mut present[..kept.len()];
            read(address, present);
            // Contents that were only read may be in memory that cannot be written.
            if present != kept {
                let target = with_exposed_provenance_mut(address);
                // SAFETY: a kernel has written the bytes, so the contract of `register_allocation` makes them valid
                // for writes and keeps other threads from accessing them except through this crate. The same holds
                // for a static array of the launch.
                unsafe { copy_to_global(target, kept.as_ptr(), kept.len()) };
                kept.copy_from_slice(present);
            }
            address += kept.len();
        }
        self.allocation
            .exchange_written(self.address, &mut self.written);
    }
}

/// Reads the bytes of an allocation from `address` on.
fn read(address: usize, contents: &mut [u8]) {
    let (target, bytes) = (contents.as_mut_ptr(), contents.len());
    // SAFETY: the launch has accessed the allocation that holds the bytes, so the contract of `register_allocation`
    // makes them valid for reads and keeps other threads from writing them except through this crate. A static array
    // of the launch lives as long as it, and other threads access it atomically. `contents` is exclusively borrowed.
    unsafe { copy_from_global(target, with_exposed_provenance(address), bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Contents;

    /// An allocation of 256 bytes that begins with these values, which count as written.
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
        let undo = Undo::new(Some(256));
        let keep = |addresses| undo.keep(&allocation, addresses).unwrap();
        keep(start..start + 100);
        let write = |offset: usize| {
            // SAFETY: the byte is in the array, which no other thread knows.
            unsafe { copy_to_global(with_exposed_provenance_mut(start + offset), &9, 1) };
            allocation.mark_written(start + offset, 1);
        };
        write(3);
        // Its first bytes share a word of bits with the last bytes of the part before.
        keep(start + 100..start + 300);
        keep(start..start + 100);
        write(101);
        let state = || {
            let mut contents = [0; 256];
            read(start, &mut contents);
            let written = (0..256).filter(|byte| allocation.is_written(start + byte, 1));
            (contents, written.count())
        };
        let after = state();
        undo.exchange();
        assert_eq!(state(), ([7; 256], 100));
        undo.exchange();
        assert_eq!(state(), after);
        assert_eq!((after.0[3], after.0[101], after.1), (9, 9, 101));
        assert!(undo.is_complete());
    }

    #[test]
    fn more_than_the_limit_is_not_kept() {
        let mut memory = [7; 256];
        let allocation = allocation(&mut memory, 256);
        let undo = Undo::new(Some(255));
        undo.keep(&allocation, 0..usize::MAX).unwrap();
        assert!(!undo.is_complete() && lock(&undo.kept).parts.is_empty());
    }
}

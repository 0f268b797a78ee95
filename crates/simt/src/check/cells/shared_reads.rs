//! The reads of cells of shared memory, stored separately. Most loads need nothing else, and so touch a quarter of the
//! cache lines.

use crate::check::cells::reader_sets::ReaderSet;
use crate::memory::{OutOfMemory, release_reserve};
use crate::state::MAX_SHARED_BYTES;
use bytemuck::allocation::try_zeroed_vec;
use std::cell::Cell;

/// Cells are two to the power of 0 to 4 bytes wide.
const WIDTHS: usize = 5;

/// For each width, the reads of all cells if all had this width. Entries that match no cell are empty.
#[derive(Default)]
pub(in crate::check) struct CellReads([Vec<Cell<ReaderSet>>; WIDTHS]);

impl CellReads {
    /// Allocates cells of two to the power of `shift` bytes, without reads.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left.
    pub fn make_room(&mut self, shift: u32) -> Result<(), OutOfMemory> {
        let reads = &mut self.0[shift as usize];
        if reads.is_empty() {
            *reads = try_zeroed_vec(MAX_SHARED_BYTES >> shift).map_err(|()| release_reserve())?;
        }
        Ok(())
    }

    /// The reads of all cells of two to the power of `shift` bytes; empty before these are allocated.
    #[inline(always)]
    pub fn of_width(&self, shift: u32) -> &[Cell<ReaderSet>] {
        self.0.get(shift as usize).map_or(&[], Vec::as_slice)
    }

    /// The reads of `bytes` bytes from `start` on.
    #[inline(always)]
    pub fn of_bytes(&self, start: usize, bytes: usize, shift: u32) -> &[Cell<ReaderSet>] {
        let cells = start >> shift..(start + bytes) >> shift;
        self.of_width(shift).get(cells).unwrap_or(&[])
    }
}

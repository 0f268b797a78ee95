//! Cells whose state does not fit in the words that they are kept in.

use crate::check::cells::cell::Cell;
use crate::check::cells::readers::Reads;
use crate::memory::{OutOfMemory, release_reserve};

/// Cells, by number.
pub(in crate::check) struct Spilled<R: Reads> {
    pub cells: Vec<Cell<R>>,
    free: Vec<usize>,
}

impl<R: Reads> Default for Spilled<R> {
    fn default() -> Self {
        Self {
            cells: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<R: Reads> Spilled<R> {
    /// Keeps a cell, and returns its number.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left.
    pub fn add(&mut self, cell: Cell<R>) -> Result<usize, OutOfMemory> {
        if let Some(number) = self.free.pop() {
            self.cells[number] = cell;
            return Ok(number);
        }
        self.cells.try_reserve(1).map_err(|_| release_reserve())?;
        self.cells.push(cell);
        // So that a cell can always be freed.
        self.free
            .try_reserve(self.cells.len())
            .map_err(|_| release_reserve())?;
        Ok(self.cells.len() - 1)
    }

    /// Takes a cell out, and frees its number.
    pub fn take(&mut self, number: usize) -> Cell<R> {
        self.free.push(number);
        std::mem::replace(&mut self.cells[number], Cell::UNTOUCHED)
    }

    /// Forgets all cells.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.free.clear();
    }
}

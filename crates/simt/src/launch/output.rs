//! Lines that the threads of launches print.

use std::mem;
use std::sync::{Mutex, PoisonError};

/// Lines that threads of launches have printed, in the order of the schedule.
#[derive(Debug, Default)]
pub struct Output {
    lines: Mutex<Vec<String>>,
}

impl Output {
    /// Takes the lines that were printed since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        mem::take(&mut self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Moves the lines of another output here.
    pub(crate) fn append(&self, other: &Self) {
        let mut more = other.take();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.append(&mut more);
    }

    pub(crate) fn add(&self, line: String) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(line);
    }
}

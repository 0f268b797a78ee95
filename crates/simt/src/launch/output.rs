//! Lines that the threads of launches print.

use crate::basics::lock;
use std::mem;
use std::sync::Mutex;

/// Lines that threads of launches have printed, in the order of the schedule.
#[derive(Debug, Default)]
pub struct Output {
    lines: Mutex<Vec<String>>,
}

impl Output {
    /// Takes the lines that were printed since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        mem::take(&mut lock(&self.lines))
    }

    /// Moves the lines of another output here.
    pub(crate) fn append(&self, other: &Self) {
        let mut more = other.take();
        lock(&self.lines).append(&mut more);
    }

    pub(crate) fn add(&self, line: String) {
        lock(&self.lines).push(line);
    }
}

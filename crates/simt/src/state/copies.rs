//! Asynchronous copies of one thread between issue and wait.

use crate::basics::CallSite;
use crate::memory::copy_from_global;
use std::collections::VecDeque;

/// A copy that was issued but not yet performed.
#[derive(Clone)]
pub(crate) struct AsyncCopy {
    pub destination: *mut u8,
    pub source: *const u8,
    pub bytes: usize,
    pub source_bytes: usize,
    /// The line that has issued it.
    pub site: CallSite,
    /// The moment of the issue, in the time of the block's checks.
    pub issued: u32,
}

impl AsyncCopy {
    /// Copies the bytes, and fills the rest with zeros.
    pub fn perform(&self) {
        // SAFETY: both ranges are valid until the wait, which happens now, and other threads write
        // the source only through this crate: the contract of `async_copy`.
        unsafe {
            copy_from_global(self.destination, self.source, self.source_bytes);
            self.destination
                .add(self.source_bytes)
                .write_bytes(0, self.bytes - self.source_bytes);
        }
    }
}

/// The copies of one thread, in the order in which they were issued.
#[derive(Default)]
pub(crate) struct CopyQueue {
    copies: VecDeque<AsyncCopy>,
    /// The number of copies in each committed group, oldest group first.
    groups: VecDeque<usize>,
    /// Copies that belong to no group yet.
    uncommitted: usize,
}

impl CopyQueue {
    /// Forgets all copies.
    pub fn clear(&mut self) {
        self.copies.clear();
        self.groups.clear();
        self.uncommitted = 0;
    }

    /// Adds a copy to the group that is not committed yet.
    pub fn issue(&mut self, copy: AsyncCopy) {
        self.copies.push_back(copy);
        self.uncommitted += 1;
    }

    /// Makes a group of the copies since the last commit.
    pub fn commit(&mut self) {
        self.groups.push_back(self.uncommitted);
        self.uncommitted = 0;
    }

    /// Takes out the copies of the oldest groups until `pending` are left.
    pub fn finish_groups(&mut self, pending: usize) -> impl Iterator<Item = AsyncCopy> + '_ {
        let finished = self.groups.len().saturating_sub(pending);
        let copies: usize = self.groups.drain(..finished).sum();
        self.copies.drain(..copies)
    }

    /// The oldest copy that the thread has not waited for, and the number of such copies.
    pub fn first_unfinished(&self) -> Option<(&AsyncCopy, usize)> {
        Some((self.copies.front()?, self.copies.len()))
    }
}

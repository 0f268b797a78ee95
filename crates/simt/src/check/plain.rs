//! A load or a store, against the words of an event that is all that is known of a cell: the short form of what
//! the rules of `cell` do with most accesses.

use super::event::{KIND_AT, READ, Time, WRITE, thread_in};
use std::cell::Cell;

/// A load or a store that is about to be made, as far as one that a cell knows must be compared with it. What
/// is in the block is read where it matters.
pub(super) struct Plain<'a> {
    pub writes: bool,
    pub block: u32,
    pub thread: u16,
    pub now: &'a Cell<Time>,
    /// The last barrier of its block.
    pub barrier: &'a Cell<Time>,
}

impl Plain<'_> {
    /// Whether it leaves nothing to remember of the event of these words, which is all that is known of a
    /// cell: it is of the same thread, or before the last barrier of the block.
    #[inline(always)]
    pub fn replaces(&self, [first, second]: [u64; 2]) -> bool {
        let kind = first >> KIND_AT;
        let is_plain = kind == READ || kind == WRITE && self.writes;
        first == 0
            || is_plain
                && second as u32 == self.block
                && (thread_in(first) == self.thread || first as Time <= self.barrier.get())
    }

    /// Whether it is a load that adds nothing to the write of these words, which is all that is known of a
    /// cell: it is of the same thread, and nothing can come between the two.
    #[inline(always)]
    pub fn repeats(&self, [first, second]: [u64; 2]) -> bool {
        !self.writes
            && first >> KIND_AT == WRITE
            && second as u32 == self.block
            && thread_in(first) == self.thread
            && first as Time == self.now.get()
    }
}

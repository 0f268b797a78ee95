//! A load or a store, against the word of an event that is all that is known of a cell: the short form of what
//! the rules of `cell` do with most accesses.

use super::event::packed::{AGENT, BLOCK, Packed, Stamp, THREAD, TIME, nature, nature_of};
use super::event::{EventKind, Others, Time};
use super::site::Site;

const READ: u64 = nature_of(EventKind::Read, Others::None);
const WRITE: u64 = nature_of(EventKind::Write, Others::None);

/// A load or a store that is about to be made, as far as one that a cell knows must be compared with it.
pub(super) struct Plain<const WRITES: bool> {
    /// Its event.
    pub event: Packed,
    /// The last barrier of its block.
    barrier: Time,
}

impl<const WRITES: bool> Plain<WRITES> {
    /// An access of two to the power of `shift` bytes by a thread, at this moment of its block.
    #[inline(always)]
    pub fn new(now: Stamp, thread: u16, shift: u32, site: Site, barrier: Time) -> Self {
        let kind = match WRITES {
            true => EventKind::Write,
            false => EventKind::Read,
        };
        Self {
            event: now.event(kind, thread, shift, site),
            barrier,
        }
    }

    /// Whether it leaves nothing to remember of the event of this word, which is all that is known of a
    /// cell: it is of the same thread, or before the last barrier of the block.
    #[inline(always)]
    pub fn replaces(&self, known: u64) -> bool {
        let is_plain = nature(known) == READ || WRITES && nature(known) == WRITE;
        known == 0 || is_plain && (self.is_of_same_thread(known) || self.is_after_barrier(known))
    }

    /// Whether it is a load that adds nothing to the write of this word, which is all that is known of a
    /// cell: it is of the same thread, and nothing can come between the two.
    #[inline(always)]
    pub fn repeats(&self, known: u64) -> bool {
        let is_now = (known ^ self.event.word) & TIME == 0;
        !WRITES && nature(known) == WRITE && is_now && self.is_of_same_thread(known)
    }

    #[inline(always)]
    fn is_of_same_thread(&self, known: u64) -> bool {
        (known ^ self.event.word) & (BLOCK | THREAD) == 0
    }

    /// Whether the last barrier of its block orders the event of this word before it.
    #[inline(always)]
    fn is_after_barrier(&self, known: u64) -> bool {
        // Of an event of another block, or of an agent, more is left than any time.
        let time = (known & (AGENT | BLOCK | TIME)).wrapping_sub(self.event.word & BLOCK);
        time <= u64::from(self.barrier)
    }
}

//! One set of reads: a list, or another set and one more read.
//!
//! Most sets only lead to the next ones, and no check reads their content: a barrier of the block orders all of it. So
//! the list is built when a check first reads it.

use super::number::ReaderSet;
use crate::check::accessor::Accessor;
use crate::check::asynchronous::clusters::Clusters;
use crate::check::cells::event::packed::Packed;
use crate::check::cells::event::{Event, Time};
use crate::check::cells::readers::{Readers, Reads as _};
use crate::check::clocks::known_clock::KnownClock;
use crate::memory::OutOfMemory;

/// Reads of a cell since its last write.
pub(super) struct Set {
    pub reads: SetReads,
    /// Barriers of the block from this time on order all of the reads. [`Time::MAX`] if some are not by its threads.
    settled: Time,
    /// The block of the reads.
    block: u32,
}

/// The content of a set.
pub(super) enum SetReads {
    Listed(Readers),
    OneMore { than: ReaderSet, read: PlainRead },
}

/// A read by a thread that has no clock, and the barriers before it.
#[derive(Clone)]
pub(crate) struct PlainRead {
    pub event: Packed,
    pub block_barrier: Time,
    pub warp_barrier: Time,
    pub warp_width: u16,
}

impl PlainRead {
    /// The accessing thread's read `event`, in `packed` form, if the thread has no clock and is the reader.
    pub fn new(event: &Event, packed: Packed, accessor: &Accessor<'_>) -> Option<Self> {
        (accessor.clock.get().is_none() && accessor.is_own(event)).then(|| Self {
            event: packed,
            block_barrier: accessor.block_barrier,
            warp_barrier: accessor.warp_barrier,
            warp_width: accessor.warp_width(),
        })
    }

    /// Adds the read, as its thread would have at the time.
    pub fn add_to(&self, readers: &mut Readers) -> Result<(), OutOfMemory> {
        let Ok(event) = self.event.event() else {
            return Ok(());
        };
        let thread = event.thread();
        let first = thread - thread % self.warp_width;
        let accessor = Accessor {
            block: event.block,
            thread,
            warp: first..first + self.warp_width,
            block_barrier: self.block_barrier,
            warp_barrier: self.warp_barrier,
            clock: KnownClock::new(None),
            clusters: &Clusters::NONE,
        };
        readers.add(&event, &accessor, true, &mut ())
    }
}

impl Set {
    /// No read of `block` so far.
    pub fn new(block: u32) -> Self {
        Self {
            reads: SetReads::Listed(Readers::NONE),
            settled: 0,
            block,
        }
    }

    /// A set with other reads in the place of its own.
    pub fn with(&self, reads: SetReads) -> Self {
        Self { reads, ..*self }
    }

    /// A set of the reads of this one, number `than`, and one more.
    #[inline]
    pub fn and_one_more(&self, than: ReaderSet, read: PlainRead) -> Self {
        let settled = match read.event.is_of_block(self.block) {
            true => self.settled.max(read.event.time()),
            false => Time::MAX,
        };
        Self {
            reads: SetReads::OneMore { than, read },
            settled,
            block: self.block,
        }
    }

    /// Takes the reads out.
    pub fn take(&mut self) -> Self {
        let none = SetReads::Listed(Readers::NONE);
        let reads = std::mem::replace(&mut self.reads, none);
        self.with(reads)
    }

    /// Adds a read, unless it is the set's one more read.
    pub fn add(&mut self, event: &Event, accessor: &Accessor<'_>) -> Result<(), OutOfMemory> {
        self.settled = match event.block == self.block {
            true => self.settled.max(event.time),
            false => Time::MAX,
        };
        match &mut self.reads {
            SetReads::Listed(readers) => readers.add(event, accessor, true, &mut ()),
            SetReads::OneMore { .. } => Ok(()),
        }
    }

    /// Whether a barrier of the block orders all of the reads before its threads.
    #[inline]
    pub fn is_settled(&self, block: u32, barrier: Time) -> bool {
        self.block == block && self.settled <= barrier
    }
}

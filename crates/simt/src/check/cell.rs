//! The last accesses of a few bytes, and which further ones they allow.
//!
//! The method is that of FastTrack (Flanagan and Freund, "FastTrack: efficient
//! and precise dynamic race detection", PLDI 2009): a cell keeps the last write
//! and the reads since then. Of reads that nothing orders among each other it
//! keeps two, from different warps or blocks where it can: a write that is not
//! ordered after all of them is hardly ever ordered after both. Atomic updates
//! need no order among each other: it keeps the last one, and the others that
//! one stands for.

use super::accessor::Accessor;
use super::event::{Event, EventKind, Others};
use crate::memory::OutOfMemory;

/// Why an access must not be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Conflict {
    /// The host has no memory left to remember the access.
    OutOfMemory,
    /// The bytes that are read have not been written.
    Unwritten,
    /// The host has freed what is accessed.
    Freed,
    /// Nothing orders the access after this one.
    Unordered(Event),
    /// The access comes upon this asynchronous copy, which is in flight.
    InFlight(Event),
}

impl From<OutOfMemory> for Conflict {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// What is remembered of the few bytes of a cell.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub write: Event,
    /// The last atomic update since the write.
    atomic: Event,
    /// Reads since the write.
    reads: [Event; 2],
}

impl Cell {
    pub const UNTOUCHED: Self = Self {
        write: Event::NOTHING,
        atomic: Event::NOTHING,
        reads: [Event::NOTHING; 2],
    };

    /// Records an access, unless it must not be.
    #[inline]
    pub fn record(
        &mut self,
        event: &Event,
        accessor: &Accessor<'_>,
        starts_unwritten: bool,
    ) -> Result<(), Conflict> {
        self.check_write(accessor, starts_unwritten && event.kind.reads())?;
        if event.kind.is_atomic() {
            self.check_reads(accessor)?;
            self.note_atomic(event, accessor);
            return Ok(());
        }
        self.check_atomic(accessor)?;
        if event.kind.writes() {
            self.check_reads(accessor)?;
            self.note_write(event);
        } else {
            self.note_read(event, accessor);
        }
        Ok(())
    }

    #[inline]
    fn check_write(&self, accessor: &Accessor<'_>, must_be_written: bool) -> Result<(), Conflict> {
        match self.write.kind {
            EventKind::Nothing if must_be_written && self.atomic.is_nothing() => {
                Err(Conflict::Unwritten)
            }
            EventKind::Nothing => Ok(()),
            EventKind::InFlight => Err(Conflict::InFlight(self.write)),
            _ if accessor.is_after(&self.write) => Ok(()),
            _ => Err(Conflict::Unordered(self.write)),
        }
    }

    #[inline]
    fn check_reads(&self, accessor: &Accessor<'_>) -> Result<(), Conflict> {
        let unordered = self
            .reads
            .iter()
            .find(|read| !read.is_nothing() && !accessor.is_after(read));
        unordered.map_or(Ok(()), |read| Err(Conflict::Unordered(*read)))
    }

    #[inline]
    fn check_atomic(&self, accessor: &Accessor<'_>) -> Result<(), Conflict> {
        if self.atomic.is_nothing() || accessor.is_after(&self.atomic) {
            Ok(())
        } else {
            Err(Conflict::Unordered(self.atomic))
        }
    }

    /// The write stays: another thread's atomic update may race with it.
    fn note_atomic(&mut self, event: &Event, accessor: &Accessor<'_>) {
        let last = &self.atomic;
        let others = if last.is_nothing() || accessor.is_after(last) {
            Others::None
        } else {
            last.others.max(accessor.relation(last))
        };
        self.atomic = Event { others, ..*event };
    }

    #[inline]
    fn note_write(&mut self, event: &Event) {
        *self = Self {
            write: *event,
            ..Self::UNTOUCHED
        };
    }

    #[inline]
    fn note_read(&mut self, event: &Event, accessor: &Accessor<'_>) {
        let [first, second] = &mut self.reads;
        if first.is_nothing() || accessor.is_after(first) {
            *first = *event;
        } else if second.is_nothing()
            || accessor.is_after(second)
            || (first.block == second.block
                && accessor.is_elsewhere(first)
                && accessor.is_elsewhere(second))
        {
            *second = *event;
        }
    }
}

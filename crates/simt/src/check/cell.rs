//! The last accesses of a few bytes, and which further ones they allow.
//!
//! The method is that of FastTrack (Flanagan and Freund, "FastTrack: efficient
//! and precise dynamic race detection", PLDI 2009): a cell keeps the last write
//! and the reads since then. Atomic updates
//! need no order among each other: it keeps the last one, and the others that
//! one stands for.

use super::accessor::Accessor;
use super::event::{Event, EventKind, Others, Site, Time};
use super::readers::{Readers, Reads};
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
    /// The allocation ends before the last byte.
    PastEnd,
    /// Nothing orders the access after this one.
    Unordered(Event),
    /// Nothing orders the access after one of those that this one stands for.
    UnorderedOthers(Event),
    /// The access comes upon this asynchronous copy, which is in flight.
    InFlight(Event),
    /// The bytes are those of an mbarrier.
    Mbarrier(Event),
    /// No proxy fence orders this write before the access, which is one of the asynchronous proxy.
    Unproxied(Event),
    /// The cache by which the access reads does not see this write.
    Stale(Event),
    /// The bytes that are written have been read through the read-only cache, at this line.
    ReadOnly(Site),
}

impl From<OutOfMemory> for Conflict {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// What a cell must know of its memory.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// Whether the memory holds nothing before its first write.
    pub starts_unwritten: bool,
    /// Whether there is room to keep each of several readers.
    pub is_exact: bool,
}

impl Event {
    /// Whether this plain access leaves nothing to remember of `known`, which is all that is known
    /// of a cell: the short form of what [`Cell::record`] does with most accesses.
    #[inline]
    pub(super) fn replaces(&self, known: &Self, accessor: &Accessor<'_>) -> bool {
        let is_plain = matches!(
            (known.kind, self.kind),
            (EventKind::Read, EventKind::Read | EventKind::Write)
                | (EventKind::Write, EventKind::Write)
        );
        is_plain && accessor.is_after(known)
    }
}

/// What is remembered of the few bytes of a cell.
#[derive(Clone)]
pub(super) struct Cell<R = Readers> {
    pub write: Event,
    /// The last atomic update since the write.
    atomic: Event,
    /// Reads since the write.
    pub reads: R,
}

impl Cell {
    /// The cell of one access.
    pub fn of(event: Event) -> Self {
        let mut cell = Self::UNTOUCHED;
        if event.kind.is_atomic() {
            cell.atomic = event;
        } else if event.kind.writes() {
            cell.write = event;
        } else {
            cell.reads.one = event;
        }
        cell
    }

    /// The access that is all there is.
    pub fn single(&self) -> Option<Event> {
        match (
            self.write.is_nothing(),
            self.atomic.is_nothing(),
            self.reads.is_empty(),
        ) {
            (_, true, true) => Some(self.write),
            (true, false, true) => Some(self.atomic),
            (true, true, false) if self.reads.is_one() => Some(self.reads.one),
            _ => None,
        }
    }

    /// Forgets all accesses.
    pub fn clear(&mut self) {
        self.forget(&mut ());
    }
}

impl<R: Reads> Cell<R> {
    pub const UNTOUCHED: Self = Self {
        write: Event::NOTHING,
        atomic: Event::NOTHING,
        reads: R::NONE,
    };

    /// Forgets all accesses.
    #[inline]
    fn forget(&mut self, sets: &mut R::Sets) {
        self.write = Event::NOTHING;
        self.atomic = Event::NOTHING;
        self.reads.clear(sets);
    }

    /// The last access that has written.
    pub fn last_write(&self) -> Option<Event> {
        let writes = |event: &Event| event.kind.writes();
        Some(self.atomic)
            .filter(writes)
            .or(Some(self.write).filter(writes))
    }

    /// Records an access, unless it must not be. True: it ends the release sequences that atomic
    /// updates have built here.
    #[inline]
    pub fn record(
        &mut self,
        event: &Event,
        accessor: &Accessor<'_>,
        rules: Rules,
        sets: &mut R::Sets,
    ) -> Result<bool, Conflict> {
        self.check_write(accessor, rules.starts_unwritten && event.kind.reads())?;
        if event.kind.is_atomic() {
            self.check_reads(accessor, sets)?;
            self.check_width(event, accessor)?;
            self.note_atomic(event, accessor);
            return Ok(false);
        }
        self.check_atomic(accessor)?;
        if event.kind.writes() {
            self.check_reads(accessor, sets)?;
            let ends_release = !self.atomic.is_nothing();
            self.forget(sets);
            self.write = *event;
            return Ok(ends_release);
        }
        if event.kind == EventKind::CachedRead {
            self.check_cache(accessor)?;
        }
        // What comes after a write of this thread comes after a read at the same time.
        if !(accessor.is_own(&self.write) && self.write.time == event.time) {
            self.reads.add(event, accessor, rules.is_exact, sets)?;
        }
        Ok(false)
    }

    /// Forgets all accesses but this one, which writes.
    #[inline]
    pub fn overwrite(&mut self, event: &Event, sets: &mut R::Sets) {
        self.forget(sets);
        match event.kind.is_atomic() {
            true => self.atomic = *event,
            false => self.write = *event,
        }
    }

    /// Whether a barrier of `block`, which was at this time, orders all writes of the cell before
    /// its threads, and there is one.
    #[inline]
    pub fn is_written_before(&self, block: u32, barrier: Time) -> bool {
        let write = &self.write;
        matches!(write.kind, EventKind::Write | EventKind::AsyncWrite)
            && write.block == block
            && write.time <= barrier
            && self.atomic.is_nothing()
    }

    /// Whether a plain write after a barrier of its block, which was at this time, needs to ask for no
    /// more than the reads: there is no other write, or the barrier or the thread itself orders it.
    #[inline]
    pub fn is_replaced_by_write(&self, event: &Event, barrier: Time) -> bool {
        let write = &self.write;
        let is_own = write.kind == EventKind::Write
            && write.block == event.block
            && write.thread() == event.thread();
        self.atomic.is_nothing()
            && (write.is_nothing() || is_own || self.is_written_before(event.block, barrier))
    }

    #[inline]
    fn check_write(&self, accessor: &Accessor<'_>, must_be_written: bool) -> Result<(), Conflict> {
        match self.write.kind {
            EventKind::Nothing if must_be_written && self.atomic.is_nothing() => {
                Err(Conflict::Unwritten)
            }
            EventKind::Nothing => Ok(()),
            EventKind::InFlight => Err(Conflict::InFlight(self.write)),
            EventKind::Mbarrier => Err(Conflict::Mbarrier(self.write)),
            _ if accessor.is_after(&self.write) => Ok(()),
            _ => Err(Conflict::Unordered(self.write)),
        }
    }

    #[inline]
    fn check_reads(&self, accessor: &Accessor<'_>, sets: &mut R::Sets) -> Result<(), Conflict> {
        match self.reads.unordered(accessor, sets)? {
            None => Ok(()),
            Some(read) => Err(unordered(read, accessor)),
        }
    }

    /// Whether a plain access may come after the atomic updates. A thread whose own update was the
    /// last one comes after all others: they are earlier in the one order that all threads see the
    /// updates of a word in.
    #[inline]
    fn check_atomic(&self, accessor: &Accessor<'_>) -> Result<(), Conflict> {
        let last = &self.atomic;
        let is_own_update = last.kind == EventKind::Atomic && accessor.is_own(last);
        if last.is_nothing() || is_own_update || accessor.is_after(last) {
            Ok(())
        } else {
            Err(unordered(*last, accessor))
        }
    }

    /// Atomic accesses of two widths are not atomic to each other.
    fn check_width(&self, event: &Event, accessor: &Accessor<'_>) -> Result<(), Conflict> {
        let last = &self.atomic;
        if last.is_nothing() || last.is_as_wide_as(event) || accessor.is_after(last) {
            Ok(())
        } else {
            Err(unordered(*last, accessor))
        }
    }

    /// The first-level cache sees what its own multiprocessor writes, which may run one block.
    fn check_cache(&self, accessor: &Accessor<'_>) -> Result<(), Conflict> {
        match self.last_write() {
            Some(write) if write.block != accessor.block => Err(Conflict::Stale(write)),
            _ => Ok(()),
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
        self.atomic = event.standing_for(others);
    }
}

/// The conflict with an event that is not before the accessing thread, or stands for one.
#[cold]
fn unordered(event: Event, accessor: &Accessor<'_>) -> Conflict {
    match event.others != Others::None && accessor.is_after_thread(&event) {
        true => Conflict::UnorderedOthers(event),
        false => Conflict::Unordered(event),
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::KINDS;
    use super::*;
    use crate::basics::SplitMix64;
    use std::panic::Location;

    const OTHERS: [Others; 4] = [
        Others::None,
        Others::OfWarp,
        Others::OfBlock,
        Others::OfOtherBlocks,
    ];

    fn draw<T: Copy>(random: &mut SplitMix64, choices: &[T]) -> T {
        choices[random.below(choices.len() as u64) as usize]
    }

    /// Wherever the short form says that an access replaces what is known, the rules say so, too.
    #[test]
    fn an_access_replaces_what_the_rules_forget() {
        let mut random = SplitMix64::new(11, 0);
        let site = Site::of(Location::caller());
        let mut replaced = 0;
        for _ in 0..250_000 {
            let place = (random.below(2) as u32, random.below(12) as u16);
            let (kind, time) = (draw(&mut random, &KINDS), random.below(6) as Time);
            let known = Event::new(kind, place, time, 4, site);
            let known = known.standing_for(draw(&mut random, &OTHERS));
            let accessor = Accessor {
                block: 0,
                thread: 5,
                warp: 4..8,
                block_barrier: random.below(6) as Time,
                warp_barrier: random.below(6) as Time,
                clock: None,
            };
            let event = Event::new(draw(&mut random, &KINDS), (0, 5), 6, 4, site);
            if event.replaces(&known, &accessor) {
                replaced += 1;
                let mut cell = Cell::of(known);
                let rules = Rules {
                    starts_unwritten: false,
                    is_exact: random.below(2) == 0,
                };
                let ends_release = cell.record(&event, &accessor, rules, &mut ());
                assert!(matches!(ends_release, Ok(false)), "{known:?} {event:?}");
                assert_eq!(cell.single(), Some(event), "{known:?}");
            }
        }
        assert!(replaced > 1000, "{replaced} accesses replace others");
    }
}

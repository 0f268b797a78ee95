//! The last accesses of a few bytes, and the rules for further ones.
//!
//! The method is that of FastTrack (Flanagan and Freund, "FastTrack: efficient and precise dynamic race detection",
//! PLDI 2009): a cell keeps the last write and the reads since then. Atomic accesses of one width need no order between
//! them if each one's scope includes the other's thread. The cell keeps those since the last plain write beside the
//! plain reads, with updates and loads in separate lists. A plain read must come after the updates, and a plain write
//! also after the loads.

use crate::check::accessor::Accessor;
use crate::check::cells::event::{Event, EventKind, Others};
use crate::check::cells::readers::{Readers, Reads};
use crate::check::cells::site::Site;
use crate::check::cells::updates::Updates;
use crate::memory::OutOfMemory;

/// The reason why an access is wrong.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) enum Conflict {
    /// The host has no memory left to remember the access.
    OutOfMemory,
    /// The bytes were read before any write.
    Unwritten,
    /// The host has freed the memory.
    Freed,
    /// The allocation ends before the last byte.
    PastEnd,
    /// The bytes are in no allocation, and the launch knows all allocations.
    Unregistered,
    /// Nothing orders the access after this one.
    Unordered(Event),
    /// Nothing orders the access after one of the accesses that this one represents.
    UnorderedOthers(Event),
    /// The access conflicts with this asynchronous copy, which is in flight.
    InFlight(Event),
    /// The bytes are those of an mbarrier.
    Mbarrier(Event),
    /// No proxy fence orders this write before the access, which is the asynchronous proxy's.
    Unproxied(Event),
    /// The cache that the access reads through does not see this write.
    Stale(Event),
    /// The written bytes have been read through the read-only cache, at this line.
    ReadOnly(Site),
}

impl From<OutOfMemory> for Conflict {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// The rules of a cell's memory.
#[derive(Clone, Copy)]
pub(in crate::check) struct Rules {
    /// Whether the memory holds nothing before its first write.
    pub starts_unwritten: bool,
    /// Whether there is memory to keep each of several readers.
    pub is_exact: bool,
}

impl Event {
    /// Whether this plain access makes `known`, a cell's only event, redundant: the short form of [`Cell::record`] for
    /// most accesses.
    #[inline]
    pub(in crate::check) fn replaces(&self, known: &Self, accessor: &Accessor<'_>) -> bool {
        let is_plain = matches!(
            (known.kind, self.kind),
            (EventKind::Read, EventKind::Read | EventKind::Write)
                | (EventKind::Write, EventKind::Write)
        );
        is_plain && accessor.is_after(known)
    }
}

/// The last accesses of the few bytes of a cell.
#[derive(Clone)]
pub(in crate::check) struct Cell<R = Readers> {
    pub write: Event,
    /// Atomic updates since the write.
    updates: Updates<R>,
    /// Atomic loads since the write.
    loads: R,
    /// Reads since the write.
    pub reads: R,
}

impl Cell {
    /// A cell with one access.
    pub fn of(event: Event) -> Self {
        let mut cell = Self::UNTOUCHED;
        match (event.kind.is_atomic(), event.kind.writes()) {
            (true, true) => cell.updates.last = event,
            (true, false) => cell.loads.one = event,
            (false, true) => cell.write = event,
            (false, false) => cell.reads.one = event,
        }
        cell
    }

    /// The access, if it is the only one.
    pub fn single(&self) -> Option<Event> {
        match (
            self.write.is_nothing(),
            self.updates.is_empty(),
            self.loads.is_empty(),
            self.reads.is_empty(),
        ) {
            (_, true, true, true) => Some(self.write),
            (true, false, true, true) if self.updates.is_one() => Some(self.updates.last),
            (true, true, false, true) if self.loads.is_one() => Some(self.loads.one),
            (true, true, true, false) if self.reads.is_one() => Some(self.reads.one),
            _ => None,
        }
    }
}

impl<R: Reads> Cell<R> {
    pub const UNTOUCHED: Self = Self {
        write: Event::NOTHING,
        updates: Updates::NONE,
        loads: R::NONE,
        reads: R::NONE,
    };

    /// A cell with a plain write, or none, and the reads since then.
    #[inline]
    pub fn plain(write: Event, reads: R) -> Self {
        Self {
            write,
            reads,
            ..Self::UNTOUCHED
        }
    }

    /// Forgets all accesses.
    #[inline]
    fn forget(&mut self, sets: &mut R::Sets) {
        self.write = Event::NOTHING;
        self.updates.clear(sets);
        self.loads.clear(sets);
        self.reads.clear(sets);
    }

    /// The sets of accesses that the cell has.
    pub fn sets_mut(&mut self) -> [&mut R; 3] {
        [self.updates.earlier_mut(), &mut self.loads, &mut self.reads]
    }

    /// The last writing access.
    pub fn last_write(&self) -> Option<Event> {
        let writes = |event: &Event| event.kind.writes();
        Some(self.updates.last)
            .filter(writes)
            .or(Some(self.write).filter(writes))
    }

    /// Records an access, unless it is wrong. Returns whether it ends the release sequences that atomic updates have
    /// built here.
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
            self.record_atomic(event, accessor, rules, sets)?;
            return Ok(false);
        }
        refuse(self.updates.unordered(accessor, sets)?, accessor)?;
        if event.kind.writes() {
            refuse(self.loads.unordered(accessor, sets)?, accessor)?;
            refuse(self.reads.unordered(accessor, sets)?, accessor)?;
            let ends_release = !self.updates.is_empty();
            self.forget(sets);
            self.write = *event;
            return Ok(ends_release);
        }
        if event.kind == EventKind::CachedRead {
            self.check_cache(accessor)?;
        }
        // An access after a write of this thread is also after a read at the same time.
        if !(accessor.is_own(&self.write) && self.write.time == event.time) {
            self.reads.add(event, accessor, rules.is_exact, sets)?;
        }
        Ok(false)
    }

    /// Records an atomic access, unless it is wrong. It must come after plain accesses, except a load after reads, and
    /// after atomic accesses of another width or of too narrow a scope. The write stays: another thread's atomic access
    /// may race with it.
    #[inline]
    fn record_atomic(
        &mut self,
        event: &Event,
        accessor: &Accessor<'_>,
        rules: Rules,
        sets: &mut R::Sets,
    ) -> Result<(), Conflict> {
        let update = self.updates.unordered_weak(event, accessor, sets)?;
        refuse(update, accessor)?;
        if event.kind == EventKind::AtomicRead {
            return Ok(self.loads.add(event, accessor, rules.is_exact, sets)?);
        }
        refuse(self.reads.unordered(accessor, sets)?, accessor)?;
        if !self.loads.is_empty() {
            let is_weak = |load: &Event| !accessor.are_strong(load, event);
            let load = self.loads.unordered_of(accessor, sets, is_weak)?;
            refuse(load, accessor)?;
            // An access after the update is also after these.
            self.loads.forget_replaced(event, accessor, sets)?;
        }
        Ok(self.updates.add(event, accessor, rules.is_exact, sets)?)
    }

    /// Forgets all accesses but this write.
    #[inline]
    pub fn overwrite(&mut self, event: &Event, sets: &mut R::Sets) {
        self.forget(sets);
        match event.kind.is_atomic() {
            true => self.updates.last = *event,
            false => self.write = *event,
        }
    }

    /// Whether the cell has only the write and the reads since then.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.updates.is_empty() && self.loads.is_empty()
    }

    #[inline]
    fn check_write(&self, accessor: &Accessor<'_>, must_be_written: bool) -> Result<(), Conflict> {
        match self.write.kind {
            EventKind::Nothing if must_be_written && self.updates.is_empty() => {
                Err(Conflict::Unwritten)
            }
            EventKind::Nothing => Ok(()),
            EventKind::InFlight => Err(Conflict::InFlight(self.write)),
            EventKind::Mbarrier => Err(Conflict::Mbarrier(self.write)),
            _ if accessor.is_after(&self.write) => Ok(()),
            _ => Err(Conflict::Unordered(self.write)),
        }
    }

    /// The first-level cache sees the writes of its own multiprocessor, which may run only one block.
    fn check_cache(&self, accessor: &Accessor<'_>) -> Result<(), Conflict> {
        match self.last_write() {
            Some(write) if write.block != accessor.block => Err(Conflict::Stale(write)),
            _ => Ok(()),
        }
    }
}

/// Refuses an access if there is an earlier one that is not ordered before it.
#[inline]
fn refuse(earlier: Option<Event>, accessor: &Accessor<'_>) -> Result<(), Conflict> {
    match earlier {
        None => Ok(()),
        Some(event) => Err(unordered(event, accessor)),
    }
}

/// The conflict with an event that is not before the accessing thread, or that represents one.
#[cold]
fn unordered(event: Event, accessor: &Accessor<'_>) -> Conflict {
    match event.others != Others::None && accessor.is_after_thread(&event) {
        true => Conflict::UnorderedOthers(event),
        false => Conflict::Unordered(event),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::SplitMix64;
    use crate::check::asynchronous::clusters::Clusters;
    use crate::check::cells::event::Time;
    use crate::check::clocks::known_clock::KnownClock;
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

    /// If the short form says that an access replaces the cell's state, the rules agree.
    #[test]
    fn an_access_replaces_what_the_rules_forget() {
        let mut random = SplitMix64::new(11, 0);
        let site = Site::of(Location::caller());
        let mut replaced = 0;
        for _ in 0..250_000 {
            let place = (random.below(2) as u32, random.below(12) as u16);
            let (kind, time) = (draw(&mut random, EventKind::ALL), random.below(6) as Time);
            let known = Event::new(kind, place, time, 4, site);
            let known = known.standing_for(draw(&mut random, &OTHERS));
            let accessor = Accessor {
                block: 0,
                thread: 5,
                warp: 4..8,
                block_barrier: random.below(6) as Time,
                warp_barrier: random.below(6) as Time,
                clock: KnownClock::new(None),
                clusters: &Clusters::NONE,
            };
            let event = Event::new(draw(&mut random, EventKind::ALL), (0, 5), 6, 4, site);
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

//! Describes conflicts for the people who fix them.

use crate::basics::{
    AccessKind, CallSite, DefectKind, Finding, Position, Related, SourceLocation, Space,
};
use crate::check::asynchronous::report;
use crate::check::block::BlockCheck;
use crate::check::cells::cell::Conflict;
use crate::check::cells::event::{Event, EventKind, Others};
use crate::check::cells::global_cells::REGION_BYTES;
use crate::check::reports::place::Place;
use crate::check::weak_memory::changes::{Change, LastChange};
use crate::memory::OutOfMemory;

/// The smallest word of atomic operations, in bytes.
const WORD_BYTES: usize = 4;

/// "last change of the word: thread (3, 0, 0) of block (0, 0, 0)", with its line.
#[cold]
fn last_change(position: &Position, change: &Change) -> Related {
    let thread = position.block_dim.index_of(u64::from(change.thread));
    let block = position.grid_dim.index_of(u64::from(change.block));
    Related::new(
        format!("last change of the word: thread {thread} of block {block}"),
        change.site.location().map(SourceLocation::from),
    )
}

impl BlockCheck {
    /// Describes a conflicting access.
    #[cold]
    pub(in crate::check) fn describe(
        &self,
        position: &Position,
        access: AccessKind,
        place: &Place,
        conflict: &Conflict,
        site: CallSite,
    ) -> Finding {
        let (kind, message) = self.summary(position, access, place, conflict);
        let mut related = Vec::new();
        match conflict {
            Conflict::Unordered(other)
            | Conflict::InFlight(other)
            | Conflict::Mbarrier(other)
            | Conflict::Unproxied(other)
            | Conflict::Stale(other) => {
                related.push(self.other_access(position, other));
            }
            Conflict::UnorderedOthers(other) => related.push(self.others_access(other)),
            Conflict::ReadOnly(site) => related.push(Related::new(
                "a read through the read-only cache".to_owned(),
                site.location().map(SourceLocation::from),
            )),
            _ => {}
        }
        related.push(Related::new(
            format!(
                "missing: {}",
                self.missing(position, access, place, conflict)
            ),
            None,
        ));
        Finding::of(position, kind, message)
            .at(site)
            .with_related(related)
    }

    fn summary(
        &self,
        position: &Position,
        access: AccessKind,
        place: &Place,
        conflict: &Conflict,
    ) -> (DefectKind, String) {
        let words = &place.words;
        if let Some(summary) = report::summary(access, words, conflict) {
            return summary;
        }
        match conflict {
            Conflict::OutOfMemory => (DefectKind::HostResources, OutOfMemory.to_string()),
            Conflict::Unwritten => (
                DefectKind::UninitialisedRead,
                format!("{access} of {words}, which has not been written"),
            ),
            Conflict::Freed => (
                DefectKind::UseAfterFree,
                format!("{access} of {words}, which has been freed"),
            ),
            Conflict::PastEnd => (
                DefectKind::OutOfBounds,
                match place.view_allocation.as_deref() {
                    Some(begin) => format!(
                        "{access} of {words}, by a view that begins in {begin} and goes past it"
                    ),
                    None => format!("{access} of {words}, by a view that begins in no buffer"),
                },
            ),
            Conflict::Unregistered => (
                DefectKind::OutOfBounds,
                format!(
                    "{access} of {words}, in no buffer of the program{}",
                    place.neighbour.as_deref().unwrap_or_default()
                ),
            ),
            Conflict::Stale(_) => (
                DefectKind::StaleRead,
                format!("{access} of {words}, which the same launch has written"),
            ),
            Conflict::ReadOnly(_) => (
                DefectKind::StaleRead,
                format!(
                    "{access} of {words}, which the same launch has read through the read-only cache"
                ),
            ),
            Conflict::InFlight(copy) => {
                let whose = match copy.thread() == position.thread() as u16 {
                    true => "its own",
                    false => "another thread's",
                };
                let what = match access {
                    AccessKind::Read
                    | AccessKind::ReadOnly
                    | AccessKind::CachedRead
                    | AccessKind::Atomic
                    | AccessKind::AtomicRead => "before the wait for",
                    _ => "on top of",
                };
                (
                    DefectKind::AsyncHazard,
                    format!("{access} of {words} {what} {whose} asynchronous copy in flight"),
                )
            }
            Conflict::Mbarrier(other)
            | Conflict::Unproxied(other)
            | Conflict::Unordered(other)
            | Conflict::UnorderedOthers(other) => {
                let is_atomic = EventKind::from(access).is_atomic() || other.kind.is_atomic();
                let kind = match is_atomic {
                    true => DefectKind::AtomicRace,
                    false => DefectKind::DataRace,
                };
                let is_elsewhere = match conflict {
                    Conflict::UnorderedOthers(other) => other.others == Others::OfOtherBlocks,
                    _ => other.block != self.block,
                };
                let whose = match is_elsewhere {
                    false => "another thread",
                    true => "a thread of another block",
                };
                let are_atomic = EventKind::from(access).is_atomic() && other.kind.is_atomic();
                let (of_other_width, scopes) = match are_atomic {
                    false => ("", String::new()),
                    true if !other.has_width(place.bytes) => (" of another width", String::new()),
                    true => ("", place.scopes(other)),
                };
                let other = other.kind;
                let message = format!(
                    "{access} of {words} races with {other}{of_other_width} by {whose}{scopes}"
                );
                (kind, message)
            }
        }
    }

    /// "thread (3, 0, 0) of block (0, 0, 0): a write", with its line.
    pub(in crate::check) fn other_access(&self, position: &Position, event: &Event) -> Related {
        let note = report::describe(position, event).unwrap_or_else(|| {
            let thread = position.block_dim.index_of(u64::from(event.thread()));
            let block = position.grid_dim.index_of(u64::from(event.block));
            format!("thread {thread} of block {block}: {}", event.kind)
        });
        Related::new(note, event.site.location().map(SourceLocation::from))
    }

    /// Describes the last writer of the word at `address`, for a report about the thread at `position`.
    ///
    /// That is an atomic or a plain write. For a word in shared memory, `shared` has the checks of the memory's block,
    /// and the word's offset.
    #[cold]
    pub fn last_writer(
        &self,
        position: &Position,
        address: usize,
        shared: Option<(&Self, usize)>,
    ) -> Option<Related> {
        let (published, write) = match shared {
            Some((owner, offset)) => (&owner.published, owner.last_write(offset).ok()?),
            None => (&self.launch.published, self.last_global_write(address)),
        };
        match published.changes.last(address) {
            LastChange::Known(change) => Some(last_change(position, &change)),
            _ if write.is_some_and(|write| !write.kind.is_atomic()) => {
                let write = self.other_access(position, &write?);
                let note = format!("last write of the word: {}", write.note);
                Some(Related { note, ..write })
            }
            LastChange::Unknown => None,
            LastChange::Never => Some(Related::new(
                "no thread of the launch has changed the word".to_owned(),
                None,
            )),
        }
    }

    /// The last write of the word of global memory at `address`, atomic or plain, if there is one.
    fn last_global_write(&self, address: usize) -> Option<Event> {
        let (number, offset) = (address / REGION_BYTES, address % REGION_BYTES);
        let region = self.launch.region(number).ok()?;
        region.last_write(offset, WORD_BYTES).ok()?
    }

    /// The same for one of the threads that `event` represents; which one is not recorded.
    fn others_access(&self, event: &Event) -> Related {
        let whose = match event.others {
            Others::OfOtherBlocks => "another block",
            Others::OfBlock => "another warp of the block",
            _ => "the warp",
        };
        Related::new(
            format!("a thread of {whose}: {}", event.kind),
            event.site.location().map(SourceLocation::from),
        )
    }

    /// The fix that the report suggests.
    fn missing(
        &self,
        position: &Position,
        access: AccessKind,
        place: &Place,
        conflict: &Conflict,
    ) -> &'static str {
        if let Some(missing) = report::missing(conflict) {
            return missing;
        }
        match conflict {
            Conflict::Unwritten if place.space == Space::Shared => {
                "a write by a thread of this block, and a barrier between it and the read"
            }
            Conflict::OutOfMemory => "smaller buffers, or a launch without memory checks",
            Conflict::Unregistered => {
                "a view of a buffer that the launch knows, with the buffer's address and length"
            }
            Conflict::PastEnd => "a view that ends where its allocation does, or earlier",
            Conflict::Stale(_) if access == AccessKind::CachedRead => {
                "a read through the L2 cache, or an atomic one"
            }
            Conflict::Stale(_) | Conflict::ReadOnly(_) => {
                "a writable view instead of the read-only one, or a second launch"
            }
            Conflict::Freed => "a buffer that outlives every use of its address",
            Conflict::Unwritten => "a write by the host, an earlier launch or another thread",
            Conflict::InFlight(_) => {
                "a wait by the thread that issued the copy, then a barrier for the others"
            }
            Conflict::Mbarrier(other)
            | Conflict::Unproxied(other)
            | Conflict::Unordered(other)
            | Conflict::UnorderedOthers(other) => {
                self.missing_order(position, access, place, other)
            }
        }
    }

    fn missing_order(
        &self,
        position: &Position,
        access: AccessKind,
        place: &Place,
        other: &Event,
    ) -> &'static str {
        let are_atomic = EventKind::from(access).is_atomic() && other.kind.is_atomic();
        if are_atomic && other.has_width(place.bytes) {
            return "atomic operations whose scopes include both threads";
        }
        if other.block != self.block || other.others == Others::OfOtherBlocks {
            return "between blocks, a second launch, or a grid barrier in a cooperative one; or a \
                    device fence then an atomic update after the first access, and an atomic \
                    update then a device fence before the second";
        }
        if are_atomic {
            return "atomic operations of one width on the word";
        }
        if other.kind.is_atomic() || EventKind::from(access).is_atomic() {
            return "an atomic operation on both sides, or a block barrier between the two";
        }
        let width = self.warp_width;
        if u32::from(other.thread()) / width == position.warp {
            return "a warp barrier whose mask names both lanes, or a block barrier, between the two \
                    (shuffles and votes order no memory)";
        }
        "a block barrier between the two"
    }
}

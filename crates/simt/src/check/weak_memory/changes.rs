//! The thread that last changed a word by an atomic operation, for reports about a word that threads wait for.
//!
//! The shadow does not record this: its last update may be one that changes nothing, such as a failed attempt to take a
//! lock. Every change is recorded and few are reported, so recording costs only three stores. A word's address selects
//! its place. Among words that share a place, only the last one is known.

use crate::basics::{lock, spread};
use crate::check::cells::site::Site;
use bytemuck::allocation::try_zeroed_slice_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// Places of words: two to this power.
const PLACE_BITS: u32 = 12;

/// Places are in parts, each with its own lock, so that host threads rarely meet.
const PARTS: usize = 16;

/// Bytes of the narrowest word.
const WORD_BYTES: usize = 4;

/// Bits of a tag for the word's number; the era is above them.
const NUMBER_BITS: u32 = 46;

/// Flag of a place: another word used it earlier in this era.
const WAS_TAKEN: u64 = 1 << 16;

/// An atomic operation that has changed a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) struct Change {
    pub block: u32,
    pub thread: u16,
    pub site: Site,
}

/// The known state of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum LastChange {
    /// No change since the last plain write.
    Never,
    /// There may have been a change.
    Unknown,
    Known(Change),
}

/// The tag of the word, the block and the line, and the thread with [`WAS_TAKEN`].
type Place = [AtomicU64; 3];

/// The last changes of the words of some memory, by address.
#[derive(Default)]
pub(in crate::check) struct Changes {
    /// Empty if the host had no memory for them.
    places: OnceLock<Option<Box<[Place]>>>,
    parts: [Mutex<()>; PARTS],
    /// Grows when everything is forgotten. Places with another era's tag are empty.
    era: u64,
}

impl Changes {
    /// Records that the word at `address` has changed. `is_exclusive`: one host thread makes all changes.
    #[inline]
    pub fn note(&self, address: usize, change: Change, is_exclusive: bool) {
        let places = self
            .places
            .get_or_init(|| try_zeroed_slice_box(1 << PLACE_BITS).ok());
        let Some(places) = places else { return };
        let number = place_of(address);
        let _held = (!is_exclusive).then(|| self.lock(number));
        let [tag, line, thread] = &places[number];
        let known = tag.load(Ordering::Relaxed);
        let own = self.tag_of(address);
        let was_taken = match known == own || known == self.tag_of(0) {
            true => thread.load(Ordering::Relaxed) & WAS_TAKEN,
            false if self.is_of_era(known) => WAS_TAKEN,
            false => 0,
        };
        tag.store(own, Ordering::Relaxed);
        let of_block = u64::from(change.block) << 32;
        line.store(
            of_block | u64::from(change.site.to_bits()),
            Ordering::Relaxed,
        );
        thread.store(u64::from(change.thread) | was_taken, Ordering::Relaxed);
    }

    /// Forgets the words of `bytes` bytes from `address` on, which a plain access has written.
    pub fn forget(&self, address: usize, bytes: usize) {
        let Some(Some(places)) = self.places.get() else {
            return;
        };
        let first = address - address % WORD_BYTES;
        for address in (first..address + bytes).step_by(WORD_BYTES) {
            let number = place_of(address);
            let _held = self.lock(number);
            let tag = &places[number][0];
            if tag.load(Ordering::Relaxed) == self.tag_of(address) {
                // No word has the number 0.
                tag.store(self.tag_of(0), Ordering::Relaxed);
            }
        }
    }

    /// The last change of the word at `address`.
    pub fn last(&self, address: usize) -> LastChange {
        let places = match self.places.get() {
            None => return LastChange::Never,
            Some(None) => return LastChange::Unknown,
            Some(Some(places)) => places,
        };
        let number = place_of(address);
        let _held = self.lock(number);
        let [tag, line, thread] = &places[number];
        let known = tag.load(Ordering::Relaxed);
        if known != self.tag_of(address) {
            let was_taken = thread.load(Ordering::Relaxed) & WAS_TAKEN != 0;
            return match self.is_of_era(known) && was_taken {
                true => LastChange::Unknown,
                false => LastChange::Never,
            };
        }
        let line = line.load(Ordering::Relaxed);
        LastChange::Known(Change {
            block: (line >> 32) as u32,
            thread: thread.load(Ordering::Relaxed) as u16,
            site: Site::of_bits(line as u32),
        })
    }

    /// Forgets all of it.
    pub fn clear(&mut self) {
        self.era += 1;
        if self.era >> (u64::BITS - NUMBER_BITS) != 0 {
            *self = Self::default();
        }
    }

    fn tag_of(&self, address: usize) -> u64 {
        let number = (address / WORD_BYTES) as u64 & ((1 << NUMBER_BITS) - 1);
        self.era << NUMBER_BITS | number
    }

    fn is_of_era(&self, tag: u64) -> bool {
        tag >> NUMBER_BITS == self.era
    }

    fn lock(&self, place: usize) -> MutexGuard<'_, ()> {
        lock(&self.parts[place % PARTS])
    }
}

/// Neighbours have places far apart, and waiting threads look at few words.
#[inline]
fn place_of(address: usize) -> usize {
    (spread((address / WORD_BYTES) as u64) >> (u64::BITS - PLACE_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    fn by(thread: u16) -> Change {
        Change {
            block: 1,
            thread,
            site: Site::of(Location::caller()),
        }
    }

    #[test]
    fn the_last_change_of_each_word_is_known() {
        let mut changes = Changes::default();
        assert_eq!(changes.last(64), LastChange::Never);
        let (first, second) = (by(3), by(5));
        changes.note(64, first, true);
        changes.note(68, by(4), false);
        changes.note(64, second, true);
        assert_eq!(changes.last(64), LastChange::Known(second));
        assert_eq!(changes.last(72), LastChange::Never);
        changes.forget(60, 8);
        assert_eq!(changes.last(64), LastChange::Never);
        assert!(matches!(changes.last(68), LastChange::Known(it) if it.thread == 4));
        changes.clear();
        assert_eq!(changes.last(68), LastChange::Never);
    }

    /// Among words that share a place, only the last one is known. The others may have changed.
    #[test]
    fn what_is_forgotten_is_not_taken_for_unchanged() {
        let mut changes = Changes::default();
        let here: Vec<usize> = (1..1_000_000)
            .map(|number| number * WORD_BYTES)
            .filter(|address| place_of(*address) == 7)
            .take(3)
            .collect();
        let elsewhere = (1..).map(|number| number * WORD_BYTES);
        let elsewhere = elsewhere
            .clone()
            .find(|address| place_of(*address) != 7)
            .unwrap();
        changes.note(here[0], by(0), true);
        assert_eq!(changes.last(here[1]), LastChange::Never);
        changes.note(here[1], by(1), true);
        assert_eq!(changes.last(here[0]), LastChange::Unknown);
        assert!(matches!(changes.last(here[1]), LastChange::Known(it) if it.thread == 1));
        assert_eq!(changes.last(elsewhere), LastChange::Never);
        // A plain write of the last word tells nothing about the first.
        changes.forget(here[1], 4);
        assert_eq!(changes.last(here[0]), LastChange::Unknown);
        changes.clear();
        assert_eq!(changes.last(here[0]), LastChange::Never);
        changes.note(here[2], by(2), true);
        changes.forget(here[2], 4);
        assert_eq!(changes.last(here[2]), LastChange::Never);
    }
}

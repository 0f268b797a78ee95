//! Which thread has changed a word last by an atomic operation: what a report says of a word that
//! threads wait for.
//!
//! The shadow does not tell: an update that changes nothing, such as that of a thread which finds a lock
//! taken, is the last one for the checks.

use super::hasher::NumberHasher;
use super::site::Site;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Parts with a lock each, so that host threads rarely meet.
const SHARDS: usize = 16;

/// A part forgets all of its words when it has more than these.
const MOST_WORDS: usize = 4096;

/// An atomic operation that has changed a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Change {
    pub block: u32,
    pub thread: u16,
    pub site: Site,
}

/// What is known of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LastChange {
    /// There was none since the last plain write.
    Never,
    /// There may have been one.
    Unknown,
    Known(Change),
}

/// The last changes of the words of some memory, by address.
#[derive(Default)]
pub(super) struct Changes {
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Default)]
struct Shard {
    words: HashMap<usize, Change, BuildHasherDefault<NumberHasher>>,
    has_forgotten: bool,
}

impl Shard {
    fn note(&mut self, address: usize, change: Change) {
        if let Some(known) = self.words.get_mut(&address) {
            *known = change;
            return;
        }
        if self.words.len() >= MOST_WORDS {
            self.words.clear();
            self.has_forgotten = true;
        }
        match self.words.try_reserve(1) {
            Ok(()) => _ = self.words.insert(address, change),
            Err(_) => self.has_forgotten = true,
        }
    }
}

impl Changes {
    /// Notes that the word at `address` has changed.
    pub fn note(&self, address: usize, change: Change) {
        self.shard(address).note(address, change);
    }

    /// Forgets the words of `bytes` bytes from `address` on, which a plain access has written.
    pub fn forget(&self, address: usize, bytes: usize) {
        for address in address..address + bytes {
            self.shard(address).words.remove(&address);
        }
    }

    /// The last change of the word at `address`.
    pub fn last(&self, address: usize) -> LastChange {
        let shard = self.shard(address);
        match shard.words.get(&address) {
            Some(change) => LastChange::Known(*change),
            None if shard.has_forgotten => LastChange::Unknown,
            None => LastChange::Never,
        }
    }

    /// Forgets all of it.
    pub fn clear(&mut self) {
        for shard in &mut self.shards {
            let shard = shard.get_mut().unwrap_or_else(PoisonError::into_inner);
            shard.words.clear();
            shard.has_forgotten = false;
        }
    }

    /// No panic leaves what the lock protects half done.
    fn shard(&self, address: usize) -> MutexGuard<'_, Shard> {
        // Words of 4 and of 8 bytes: the lowest bits tell nothing.
        let shard = &self.shards[address / 8 % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        changes.note(64, by(3));
        changes.note(68, by(4));
        changes.note(64, by(5));
        assert_eq!(changes.last(64), LastChange::Known(by(5)));
        assert_eq!(changes.last(72), LastChange::Never);
        changes.forget(60, 8);
        assert_eq!(changes.last(64), LastChange::Never);
        assert_eq!(changes.last(68), LastChange::Known(by(4)));
        changes.clear();
        assert_eq!(changes.last(68), LastChange::Never);
    }

    #[test]
    fn what_is_forgotten_is_not_taken_for_unchanged() {
        let changes = Changes::default();
        let stride = 8 * SHARDS;
        (0..=MOST_WORDS).for_each(|word| changes.note(word * stride, by(0)));
        assert_eq!(changes.last(0), LastChange::Unknown);
        assert_eq!(changes.last(MOST_WORDS * stride), LastChange::Known(by(0)));
        assert_eq!(changes.last(8), LastChange::Never);
    }
}

//! The last stores of atomic words: what a relaxed load may return besides the newest one.
//!
//! The method is that of Lidbury and Donaldson, "Dynamic race detection for C++11", POPL 2017, with the
//! rules of the PTX ISA, "Memory Consistency Model". A run makes its steps one after another, and each
//! word keeps its last stores in that order, which is their coherence order. A load must return a store
//! that is no older than
//!
//! 1. the last one that comes before the load in causality order ("Axioms: Causality"), or that its own
//!    thread has made ("Axioms: SC-per-location");
//! 2. the last one that a load has returned which comes before this one, or is one of its own thread
//!    ("Causality order": a store comes before what is ordered after its observers).
//!
//! So no load returns what is stored later: load buffering is not seen. Updates read the newest store.

use super::event::Event;
use super::hasher::NumberHasher;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

/// So many stores of a word are kept.
const MOST_STORES: usize = 4;

/// So many loads of a store are kept. If there are more, all threads count as having loaded it.
const MOST_LOADS: usize = 32;

/// So often an older store is returned: a thread that waits for the newest one sees it in the end.
const MOST_RETURNS: u32 = 64;

/// When there are more words than these, all are forgotten: loads return what is newest then.
const MOST_WORDS: usize = 1 << 12;

/// A store of a word.
struct Store<R> {
    value: u64,
    /// Nothing for what the word held before the first atomic operation.
    event: Event,
    /// What it hands on.
    release: Option<R>,
    /// The first load of each thread that has returned it.
    loads: Vec<Event>,
    /// How often it has been returned as an older one.
    returns: u32,
}

impl<R> Store<R> {
    fn new(value: u64, event: Event, release: Option<R>) -> Self {
        Self {
            value,
            event,
            release,
            loads: Vec::new(),
            returns: 0,
        }
    }

    /// Whether a load must not return what is older; `sees` tells which accesses come before it.
    fn is_seen(&self, sees: impl Fn(&Event) -> bool) -> bool {
        sees(&self.event) || self.loads.len() >= MOST_LOADS || self.loads.iter().any(sees)
    }

    fn note_load(&mut self, event: Event) {
        let is_known = |load: &Event| load.block == event.block && load.thread() == event.thread();
        if self.loads.len() < MOST_LOADS && !self.loads.iter().any(is_known) {
            self.loads.push(event);
        }
    }
}

/// The last stores of a word, the oldest first. There is always one.
pub(super) struct History<R> {
    stores: VecDeque<Store<R>>,
}

impl<R> History<R> {
    /// Of a word that holds `value`, from a store that is not known.
    fn new(value: u64) -> Self {
        Self {
            stores: VecDeque::from([Store::new(value, Event::NOTHING, None)]),
        }
    }

    /// Adds a store, as the newest.
    pub fn store(&mut self, value: u64, event: Event, release: Option<R>) {
        if self.stores.len() == MOST_STORES {
            self.stores.pop_front();
        }
        self.stores.push_back(Store::new(value, event, release));
    }

    /// Which stores a load may return: those from this number on.
    pub fn first_choice(&self, sees: impl Fn(&Event) -> bool) -> usize {
        let seen = self.stores.iter().rposition(|store| store.is_seen(&sees));
        let first = seen.unwrap_or(0);
        let older = self.newest().saturating_sub(first);
        let is_used_up = |store: &Store<R>| store.returns >= MOST_RETURNS;
        match self.stores.range(first..first + older).any(is_used_up) {
            true => self.newest(),
            false => first,
        }
    }

    /// The number of the newest store.
    pub fn newest(&self) -> usize {
        self.stores.len() - 1
    }

    /// The load `event` returns store number `number`: its value, and what it hands on.
    pub fn load(&mut self, number: usize, event: Event) -> (u64, Option<&R>) {
        let is_older = number < self.newest();
        let store = &mut self.stores[number];
        store.returns += u32::from(is_older);
        store.note_load(event);
        (store.value, store.release.as_ref())
    }
}

/// The histories of words, by address.
pub(super) struct Histories<R> {
    words: HashMap<usize, History<R>, BuildHasherDefault<NumberHasher>>,
}

impl<R> Default for Histories<R> {
    fn default() -> Self {
        Self {
            words: HashMap::default(),
        }
    }
}

impl<R> Histories<R> {
    /// That of the word at `address`, which holds `value`. If its newest store is another, plain accesses
    /// have written the word, and whatever comes now is ordered after them.
    pub fn of(&mut self, address: usize, value: u64) -> &mut History<R> {
        if self.words.len() >= MOST_WORDS && !self.words.contains_key(&address) {
            self.words.clear();
        }
        let history = self.words.entry(address);
        let history = history.or_insert_with(|| History::new(value));
        if history.stores.back().is_none_or(|it| it.value != value) {
            *history = History::new(value);
        }
        history
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::EventKind;
    use super::super::site::Site;
    use super::*;
    use std::panic::Location;

    fn by(thread: u16, time: u32) -> Event {
        let site = Site::of(Location::caller());
        Event::new(EventKind::Atomic, (0, thread), time, 4, site)
    }

    /// A word that held 0, and to which thread 1 has stored 1, 2, 3 at times 1, 2, 3.
    fn history() -> History<()> {
        let mut history = History::new(0);
        (1..=3).for_each(|time| history.store(time.into(), by(1, time), None));
        history
    }

    /// What a thread sees that comes after what thread 1 had done at `time`.
    fn after(time: u32) -> impl Fn(&Event) -> bool {
        move |event| event.thread() == 1 && event.time <= time
    }

    #[test]
    fn a_load_returns_nothing_older_than_what_comes_before_it() {
        let history = history();
        assert_eq!(
            [0, 1, 2, 3].map(|time| history.first_choice(after(time))),
            [0, 1, 2, 3]
        );
    }

    #[test]
    fn a_load_returns_nothing_older_than_an_earlier_load() {
        let mut history = history();
        assert_eq!(history.load(2, by(5, 9)).0, 2);
        let of_itself = |event: &Event| event.thread() == 5;
        assert_eq!(history.first_choice(of_itself), 2);
        assert_eq!(history.first_choice(after(0)), 0);
    }

    #[test]
    fn few_stores_are_kept() {
        let mut history = history();
        history.store(4, by(2, 7), None);
        assert_eq!((history.newest(), history.load(0, by(5, 9)).0), (3, 1));
    }

    #[test]
    fn what_waits_sees_the_newest_store_in_the_end() {
        let mut history = history();
        let mut loads = 0;
        while history.first_choice(after(0)) != history.newest() {
            history.load(0, by(1, 9));
            loads += 1;
        }
        assert_eq!(loads, MOST_RETURNS);
    }

    #[test]
    fn a_plain_write_begins_anew() {
        let mut histories = Histories::default();
        histories.of(64, 0).store(1, by(1, 1), None::<()>);
        assert_eq!(histories.of(64, 1).newest(), 1);
        assert_eq!(histories.of(64, 7).newest(), 0);
        (0..=MOST_WORDS).for_each(|word| _ = histories.of(128 + 4 * word, 0));
        assert!(histories.words.len() <= MOST_WORDS);
    }
}

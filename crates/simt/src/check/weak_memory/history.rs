//! The last stores of atomic words: what a relaxed load may return besides the newest one.
//!
//! The method is that of Lidbury and Donaldson, "Dynamic race detection for C++11", POPL 2017, with the
//! rules of the PTX ISA, "Memory Consistency Model". A run makes its steps one after another, and each
//! word keeps its last stores in that order, which is their coherence order. A load must return a store
//! that is no older than
//!
//! 1. the last one that comes before the load in causality order ("Axioms: Causality"), or that its own
//!    thread has made ("Axioms: SC-per-location");
//! 2. the last one returned by a load that comes before this one, or by one of its own thread ("Causality order": a
//!    store comes before what is ordered after its observers).
//!
//! So no load returns a later store. That takes another run of the launch, and a prediction from this one
//! (`prediction`), based on the last loads of each store. Updates read the newest store.

use crate::basics::NumberMap;
use crate::check::cells::event::Event;
use std::collections::VecDeque;

/// The number of stores of a word that are kept.
const MOST_STORES: usize = 4;

/// The number of loads of a store that are kept. If there are more, all threads count as having loaded it.
const MOST_LOADS: usize = 32;

/// How often an older store is returned, so that a thread that waits for the newest one eventually sees it.
const MOST_RETURNS: u32 = 64;

/// If there are more words than these, all are forgotten, and loads return the newest store.
const MOST_WORDS: usize = 1 << 12;

/// A thread's loads that have returned one store.
struct Loads {
    /// The first of them.
    first: Event,
    last: Event,
    /// The number of atomic operations of its thread before the last load, if that orders nothing.
    number: Option<u32>,
}

/// A relaxed load.
pub(in crate::check) struct RelaxedLoad {
    pub last: Event,
    /// The number of atomic operations of its thread before it.
    pub number: u32,
}

/// A store of a word.
struct Store<R> {
    value: u64,
    /// None for the word's value before the first atomic operation.
    event: Event,
    /// Its release.
    release: Option<R>,
    /// By thread: its loads that have returned it.
    loads: Vec<Loads>,
    /// How often it was returned as an older store.
    returns: u32,
    /// Whether it may depend on a load that has returned a later store.
    is_dependent: bool,
}

impl<R> Store<R> {
    fn new(value: u64, event: Event, release: Option<R>) -> Self {
        Self {
            value,
            event,
            release,
            loads: Vec::new(),
            returns: 0,
            is_dependent: false,
        }
    }

    /// Whether a load must not return an older store. `sees` tells which accesses come before the load.
    fn is_seen(&self, sees: impl Fn(&Event) -> bool) -> bool {
        sees(&self.event)
            || self.loads.len() >= MOST_LOADS
            || self.loads.iter().any(|it| sees(&it.first))
    }

    fn note_load(&mut self, event: Event, number: Option<u32>) {
        let is_own =
            |it: &&mut Loads| it.first.block == event.block && it.first.thread() == event.thread();
        if let Some(own) = self.loads.iter_mut().find(is_own) {
            (own.last, own.number) = (event, number);
        } else if self.loads.len() < MOST_LOADS {
            self.loads.push(Loads {
                first: event,
                last: event,
                number,
            });
        }
    }
}

/// The last stores of a word, the oldest first. There is always one.
pub(in crate::check) struct History<R> {
    stores: VecDeque<Store<R>>,
}

impl<R> History<R> {
    /// The history of a word that holds `value`, from an unknown store.
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

    /// The number of the first store that a load may return.
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

    /// The value of store number `number`, and whether it may depend on a load that has returned a later store.
    pub fn value(&self, number: usize) -> (u64, bool) {
        let store = &self.stores[number];
        (store.value, store.is_dependent)
    }

    /// Marks the newest store: it may depend on a load that has returned a later store.
    pub fn mark_newest_dependent(&mut self) {
        if let Some(newest) = self.stores.back_mut() {
            newest.is_dependent = true;
        }
    }

    /// The load `event` returns store number `number`: its value, and what it passes on. If the load orders nothing,
    /// `relaxed` is the number of its thread's earlier atomic operations.
    pub fn load(&mut self, number: usize, event: Event, relaxed: Option<u32>) -> (u64, Option<&R>) {
        let is_older = number < self.newest();
        let store = &mut self.stores[number];
        store.returns += u32::from(is_older);
        store.note_load(event, relaxed);
        (store.value, store.release.as_ref())
    }

    /// The load `event`, made before the newest store, has returned that store.
    pub fn note_load_of_newest(&mut self, event: Event) {
        if let Some(newest) = self.stores.back_mut() {
            newest.note_load(event, None);
        }
    }

    /// Each thread's last loads that have returned one of the stores and order nothing, with their values.
    pub fn relaxed_loads(&self) -> impl Iterator<Item = (u64, RelaxedLoad)> + '_ {
        self.stores.iter().flat_map(|store| {
            let relaxed = store.loads.iter().filter_map(|it| {
                let (last, number) = (it.last, it.number?);
                Some(RelaxedLoad { last, number })
            });
            relaxed.map(|load| (store.value, load))
        })
    }
}

/// The histories of words, by address.
pub(in crate::check) struct Histories<R> {
    words: NumberMap<usize, History<R>>,
}

impl<R> Default for Histories<R> {
    fn default() -> Self {
        Self {
            words: NumberMap::default(),
        }
    }
}

impl<R> Histories<R> {
    /// The history of the word at `address`, which holds `value`. If its newest store has another value, plain accesses
    /// wrote the word, and the next access is ordered after them.
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
    use super::*;
    use crate::check::cells::event::EventKind;
    use crate::check::cells::site::Site;
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

    /// The view of a thread that comes after the accesses of thread 1 up to `time`.
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
        assert_eq!(history.load(2, by(5, 9), None).0, 2);
        let of_itself = |event: &Event| event.thread() == 5;
        assert_eq!(history.first_choice(of_itself), 2);
        assert_eq!(history.first_choice(after(0)), 0);
    }

    #[test]
    fn the_last_relaxed_load_of_each_thread_is_known() {
        let mut history = history();
        history.load(0, by(5, 4), Some(0));
        history.load(0, by(5, 6), Some(3));
        history.load(3, by(5, 8), Some(4));
        history.load(3, by(5, 9), None);
        history.load(1, by(6, 2), Some(0));
        let known = history.relaxed_loads();
        let known = known.map(|(value, load)| (value, load.last.time, load.number));
        assert!(known.eq([(0, 6, 3), (1, 2, 0)]));
        assert_eq!(
            history.first_choice(|event| event.thread() == 5 && event.time <= 4),
            0
        );
    }

    #[test]
    fn a_load_may_have_returned_what_was_stored_later() {
        let mut history = history();
        history.note_load_of_newest(by(5, 1));
        assert_eq!(history.first_choice(|event| event.thread() == 5), 3);
    }

    #[test]
    fn few_stores_are_kept() {
        let mut history = history();
        history.store(4, by(2, 7), None);
        assert_eq!(
            (history.newest(), history.load(0, by(5, 9), None).0),
            (3, 1)
        );
    }

    #[test]
    fn what_waits_sees_the_newest_store_in_the_end() {
        let mut history = history();
        let mut loads = 0;
        while history.first_choice(after(0)) != history.newest() {
            history.load(0, by(1, 9), None);
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

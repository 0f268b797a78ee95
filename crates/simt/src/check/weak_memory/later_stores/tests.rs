use super::*;
use crate::check::cells::event::EventKind;
use crate::check::cells::site::Site;
use crate::check::clocks::happens_before::DEVICE;
use crate::check::weak_memory::history::Histories;
use crate::check::weak_memory::prediction::{Actor, Word};
use std::panic::Location;

const ADDRESS: usize = 64;
const VALUE: u64 = 7;
const LOADING: u16 = 1;
const STORING: u16 = 2;

/// An access of the word.
fn by(thread: u16) -> Event {
    let site = Site::of(Location::caller());
    Event::new(EventKind::Atomic, (0, thread), 5, 4, site)
}

fn load(number: u32) -> Operation {
    Operation {
        block: 0,
        thread: LOADING,
        number,
    }
}

/// A thread's store or read of a value.
fn made(thread: u16, value: u64, is_store: bool) -> Made {
    Made {
        actor: Actor::of(&by(thread)),
        word: Word::Global(ADDRESS),
        value,
        is_store,
    }
}

/// A run whose load number 3 returns a later store. The first run has made this store and `others`.
fn predicted_after(others: impl IntoIterator<Item = Made>) -> LaterStores {
    let store = made(STORING, VALUE, true);
    let prediction = Prediction {
        load: load(3),
        instead_of: 0,
        store,
    };
    let record = Record {
        operations: 0,
        made: others.into_iter().chain([store]).collect(),
    };
    LaterStores::following(prediction, &Arc::new(record))
}

fn predicted() -> LaterStores {
    predicted_after([])
}

/// The same after that load.
fn returned() -> LaterStores {
    let run = predicted();
    let value = run.predicted(load(3), (ADDRESS, 0), by(LOADING));
    assert_eq!(value, Some(VALUE));
    run
}

/// A thread stores the word, after no access of another thread. Returns whether the store may depend on the load.
fn store(run: &LaterStores, (value, thread): (u64, u16), release: Option<&Release>) -> bool {
    let mut histories = Histories::default();
    let history = histories.of(ADDRESS, value);
    let release = (release, &Clusters::NONE);
    let store = made(thread, value, true);
    run.note_store((ADDRESS, store), release, history, |_| false);
    let is_seen = history.first_choice(|it| it.thread() == LOADING) == history.newest();
    assert!(is_seen || !run.are_returned());
    history.value(0).1
}

/// A release to all threads.
fn release() -> Release {
    let mut release = Release::default();
    let released = Before {
        ordered: Some(Default::default()),
        fenced: None,
    };
    release.add((0, &Clusters::NONE), DEVICE, &released);
    release
}

#[test]
fn one_load_returns_the_value_of_one_store() {
    let run = predicted();
    assert_eq!(run.predicted(load(2), (ADDRESS, 0), by(LOADING)), None);
    let run = returned();
    assert_eq!(run.predicted(load(3), (ADDRESS, 0), by(LOADING)), None);
    store(&run, (VALUE + 1, STORING), None);
    store(&run, (VALUE, STORING + 1), None);
    assert!(!run.are_returned());
    store(&run, (VALUE, STORING), None);
    assert!(run.are_returned() && !run.are_given_up());
}

#[test]
fn a_load_that_would_have_returned_something_else_ends_the_run() {
    let run = predicted();
    assert_eq!(run.predicted(load(3), (ADDRESS, 1), by(LOADING)), None);
    assert!(run.are_given_up());
}

/// Of the word, by what comes after the load.
#[test]
fn an_access_before_the_store_ends_the_run() {
    let run = returned();
    run.note_access(ADDRESS + 4, |_| true);
    run.note_access(ADDRESS, |_| false);
    assert!(!run.are_given_up());
    run.note_access(ADDRESS, |event| event.thread() == LOADING);
    assert!(run.are_given_up());
}

#[test]
fn an_access_after_the_store_is_allowed() {
    let run = returned();
    store(&run, (VALUE, STORING), None);
    run.note_access(ADDRESS, |_| true);
    assert!(run.are_returned() && !run.are_given_up());
}

#[test]
fn a_fence_after_the_store_acquires_once() {
    let run = returned();
    store(&run, (VALUE, STORING), Some(&release()));
    let (handed, is_all) = run.acquire();
    assert!(handed[DEVICE].is_some() && is_all);
    assert!(run.acquire().0.iter().all(Option::is_none));
}

/// The fence would have to acquire something that is not released yet.
#[test]
fn a_fence_before_a_store_that_releases_ends_the_run() {
    let run = returned();
    assert!(!run.acquire().1);
    store(&run, (VALUE, STORING), Some(&release()));
    assert!(run.are_given_up() && !run.are_returned());
    let run = returned();
    run.acquire();
    store(&run, (VALUE, STORING), None);
    assert!(run.are_returned());
}

#[test]
fn a_run_waits_for_its_store_as_long_as_the_other_one_ran() {
    let run = returned();
    (1..SOME_MORE).for_each(|_| run.count_operation());
    assert!(!run.are_given_up());
    run.count_operation();
    assert!(run.are_given_up());
    let run = returned();
    store(&run, (VALUE, STORING), None);
    (0..2 * SOME_MORE).for_each(|_| run.count_operation());
    assert!(!run.are_given_up() && run.are_returned());
}

#[test]
fn loads_of_another_value_that_are_not_before_a_store_suggest_it() {
    let suggests = |sees: bool, value: u64| {
        let suggestions = (1..).find_map(Suggestions::new).unwrap();
        let run = LaterStores::suggesting(suggestions);
        let mut histories = Histories::default();
        let history = histories.of(ADDRESS, 0);
        history.load(0, by(LOADING), Some(3));
        run.count_operation();
        let store = made(STORING, value, true);
        let release = (None, &Clusters::NONE);
        run.note_store((ADDRESS, store), release, history, |_| sees);
        run.take_suggestions()
    };
    let (suggested, record) = suggests(false, VALUE);
    assert_eq!((suggested.len(), record.operations), (1, 1));
    let [suggested] = suggested[..] else { panic!() };
    assert_eq!((suggested.load, suggested.store.value), (load(3), VALUE));
    assert_eq!(suggests(true, VALUE).0.len(), 0);
    assert_eq!(suggests(false, 0).0.len(), 0);
}

#[test]
fn what_the_first_run_has_not_stored_depends_on_the_load() {
    let run = predicted_after([made(LOADING, 1, true)]);
    assert!(!store(&run, (2, LOADING), None));
    run.predicted(load(3), (ADDRESS, 0), by(LOADING));
    assert!(!store(&run, (1, LOADING), None));
    assert!(store(&run, (2, LOADING), None));
    store(&run, (VALUE, STORING), None);
    assert!(!store(&run, (2, LOADING), None));
}

/// It may be the reason for the store now.
#[test]
fn who_reads_the_same_as_in_the_first_run_depends_on_the_load() {
    let read = made(STORING, 1, false);
    for (others, is_dependent) in [(Some(read), true), (Some(read), false), (None, true)] {
        let run = predicted_after(others);
        run.predicted(load(3), (ADDRESS, 0), by(LOADING));
        run.note_read(read, is_dependent);
        store(&run, (VALUE, STORING), None);
        assert_eq!(run.are_returned(), others.is_none() || !is_dependent);
    }
}

//! Orders by stores that release and loads that acquire, without fences.

use super::{
    Conditions, Means, PLACES, Place, Round, SCOPES, SEEDS, Test, X, Y, all_outcomes, assert_seen,
    causality, iriw, load_buffering, message_passing, store_buffering, take_rounds,
};
use crate::harness::{Memory, run_and_read};
use cuda_std::atomic::{AtomicRef, DeviceScope, Relaxed, Release};
use simt::{DefectKind, MemoryScope, Options};
use std::collections::BTreeSet;

/// Fails unless a test has exactly these outcomes, with each scope that includes all threads.
fn assert_ordered(test: Test, expected: &BTreeSet<Vec<u32>>) {
    for place in PLACES {
        for scope in SCOPES.into_iter().filter(|scope| place.is_in(*scope)) {
            let conditions = Conditions {
                place,
                means: Means::Order(scope),
                parallel_blocks: false,
                weak_memory: true,
            };
            assert_seen(test, expected, conditions);
        }
    }
}

/// All outcomes but the `weak` one.
fn strong_outcomes(weak: &[u32]) -> BTreeSet<Vec<u32>> {
    let mut outcomes = all_outcomes(weak.len());
    outcomes.remove(weak);
    outcomes
}

#[test]
fn a_message_is_passed() {
    assert_ordered(message_passing, &strong_outcomes(&[1, 0]));
}

#[test]
fn what_was_read_is_handed_on() {
    assert_ordered(causality, &strong_outcomes(&[1, 1, 0]));
}

#[test]
fn load_buffering_is_forbidden() {
    assert_ordered(load_buffering, &strong_outcomes(&[1, 1]));
}

/// Only sequentially consistent fences forbid it.
#[test]
fn stores_are_buffered_nonetheless() {
    assert_ordered(store_buffering, &all_outcomes(2));
}

/// Only sequentially consistent fences forbid it.
#[test]
fn two_readers_may_see_two_writes_in_either_order() {
    assert_ordered(iriw, &all_outcomes(4));
}

/// The first thread writes X and raises the flag Y, the second one changes Y, and the third one reads both.
fn change_flag(round: &Round<'_>, number: usize, change: fn(AtomicRef<'_, u32>)) {
    let flag = round.variable::<DeviceScope>(Y);
    match number {
        0 => {
            round.variable::<DeviceScope>(X).store(1, Relaxed);
            flag.store(1, Release);
        }
        1 => change(flag),
        2 => {
            round.read(Y, 0);
            let value = round.variable::<DeviceScope>(X).load(Relaxed);
            round.set_result(1, value);
        }
        _ => {}
    }
}

/// Fails unless a test between blocks has exactly these outcomes.
fn assert_between_blocks(test: Test, expected: &[[u32; 2]]) {
    let conditions = Conditions {
        place: Place::Device,
        means: Means::Order(MemoryScope::Device),
        parallel_blocks: false,
        weak_memory: true,
    };
    let expected = expected.iter().map(|outcome| outcome.to_vec()).collect();
    assert_seen(test, &expected, conditions);
}

/// A relaxed update of another thread passes a release on: 2 is read after the message.
#[test]
fn an_update_carries_a_release_on() {
    let test: Test = |round, number| {
        change_flag(round, number, |flag| _ = flag.fetch_add(1, Relaxed));
    };
    // 1 may be the update of 0.
    let expected = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 1]];
    assert_between_blocks(test, &expected);
}

/// A relaxed store of another thread does not.
#[test]
fn a_store_ends_a_release() {
    let test: Test = |round, number| change_flag(round, number, |flag| flag.store(2, Relaxed));
    let expected = [[0, 0], [0, 1], [1, 1], [2, 0], [2, 1]];
    assert_between_blocks(test, &expected);
}

/// Accesses whose scope excludes a thread race with that thread's.
#[test]
fn too_narrow_a_scope_is_a_race() {
    for place in [Place::Cluster, Place::Peer, Place::Device] {
        for scope in SCOPES.into_iter().filter(|scope| !place.is_in(*scope)) {
            for seed in 0..SEEDS {
                let kernel = |memory: &Memory| {
                    let means = Means::Order(scope);
                    take_rounds((place, means), 1, memory.counters, message_passing);
                };
                let options = Options {
                    seed,
                    parallel_blocks: false,
                    ..Options::default()
                };
                let found = run_and_read(place.run(), &options, place.size(), &kernel);
                let found = found.expect_err("a race");
                assert_eq!(found.kind, DefectKind::AtomicRace, "{found}");
                let scopes = format!("their scopes are {scope} and {scope}");
                assert!(found.message.contains(&scopes), "{found}");
            }
        }
    }
}

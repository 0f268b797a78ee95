//! The guarantees for each word without fences, and the order of barriers.

use super::{Conditions, Means, PLACES, ROUNDS, SEEDS, Test, X, assert_seen};
use crate::harness::{Memory, run_and_read};
use cuda_std::atomic::{DeviceScope, Relaxed};
use cuda_std::prelude::*;
use simt::Options;

/// Fails unless a test without fences has exactly the outcomes `expected` at each place.
fn assert_without_fences(test: Test, expected: &[&[u32]]) {
    let expected = expected.iter().map(|outcome| outcome.to_vec()).collect();
    for place in PLACES {
        let conditions = Conditions {
            place,
            means: Means::Nothing,
            parallel_blocks: false,
            weak_memory: true,
        };
        assert_seen(test, &expected, conditions);
    }
}

/// Two reads of one word by one thread: the second is never older (CoRR).
#[test]
fn reads_of_one_word_go_forward() {
    let test: Test = |round, number| match number {
        0 => {
            round.write(X);
            round.write_value(X, 2);
        }
        1 => {
            round.read(X, 0);
            round.read(X, 1);
        }
        _ => {}
    };
    let forward: [&[u32]; 6] = [&[0, 0], &[0, 1], &[0, 2], &[1, 1], &[1, 2], &[2, 2]];
    assert_without_fences(test, &forward);
}

/// A thread reads nothing older than its own write, but may read another thread's (CoWR).
#[test]
fn a_thread_sees_its_own_writes() {
    let test: Test = |round, number| match number {
        0 => {
            round.write(X);
            round.read(X, 0);
        }
        1 => round.write_value(X, 2),
        _ => {}
    };
    assert_without_fences(test, &[&[1], &[2]]);
}

/// An update reads the newest store, so no update is lost.
#[test]
fn updates_read_the_newest_value() {
    let test: Test = |round, number| {
        if let 0 | 1 = number {
            let before = round.variable::<DeviceScope>(X).fetch_add(1, Relaxed);
            round.set_result(number, before);
        }
    };
    assert_without_fences(test, &[&[0, 1], &[1, 0]]);
}

/// A barrier of the block orders all.
#[test]
fn after_a_barrier_all_see_what_was_before() {
    let kernel = |memory: &Memory| {
        for round in 0..ROUNDS {
            let words = memory.counters;
            words.atomic_set(round, round as u32 + 1);
            thread::sync_threads();
            assert_eq!(words.atomic_get(round), round as u32 + 1);
        }
    };
    for seed in 0..SEEDS {
        let options = Options {
            seed,
            parallel_blocks: false,
            ..Options::default()
        };
        run_and_read(crate::borrowed::run, &options, (1, 64), &kernel)
            .unwrap_or_else(|defect| panic!("{defect}"));
    }
}

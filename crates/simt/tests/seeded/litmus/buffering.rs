//! Loads that return later stores: allowed if the store does not depend on the load, and no order forbids it.

use super::{
    Conditions, Means, PLACES, Place, Round, Test, X, Y, all_outcomes, assert_seen, outcomes_under,
};
use cuda_std::atomic::{Acquire, DeviceScope, Relaxed, Release};
use simt::MemoryScope;
use std::collections::BTreeSet;

/// Without fences other than the test's.
fn conditions_at(place: Place) -> Conditions {
    Conditions {
        place,
        means: Means::Nothing,
        parallel_blocks: false,
        weak_memory: true,
    }
}

/// Fails unless a test has exactly these outcomes at each place.
fn assert_everywhere(test: Test, expected: &BTreeSet<Vec<u32>>) {
    for place in PLACES {
        assert_seen(test, expected, conditions_at(place));
    }
}

fn set_of(outcomes: &[&[u32]]) -> BTreeSet<Vec<u32>> {
    outcomes.iter().map(|outcome| outcome.to_vec()).collect()
}

fn load(round: &Round<'_>, variable: usize, result: usize) -> u32 {
    let value = round.variable::<DeviceScope>(variable).load(Relaxed);
    round.set_result(result, value);
    value
}

/// Reads one variable, and then writes another.
fn load_and_write(round: &Round<'_>, (read, result): (usize, usize), written: usize) {
    load(round, read, result);
    round.write(written);
}

#[test]
fn few_seeds_are_enough() {
    for place in PLACES {
        let seen = outcomes_under(0..32, super::load_buffering, conditions_at(place), 2);
        assert!(seen.contains(&vec![1, 1]), "{place:?}: {seen:?}");
    }
}

/// The other thread's fence orders only its own accesses.
#[test]
fn one_fence_does_not_help() {
    let tests: [Test; 2] = [
        |round, number| one_fence(round, number, simt::fence),
        |round, number| one_fence(round, number, simt::fence_acq_rel),
    ];
    for test in tests {
        assert_everywhere(test, &all_outcomes(2));
    }
}

fn one_fence(round: &Round<'_>, number: usize, fence: fn(MemoryScope)) {
    match number {
        0 => load_and_write(round, (X, 0), Y),
        1 => {
            load(round, Y, 1);
            fence(MemoryScope::Device);
            round.write(X);
        }
        _ => {}
    }
}

/// One thread acquires and releases; the other does neither.
#[test]
fn one_order_does_not_help() {
    let test: Test = |round, number| match number {
        0 => load_and_write(round, (X, 0), Y),
        1 => {
            let value = round.variable::<DeviceScope>(Y).load(Acquire);
            round.set_result(1, value);
            round.variable::<DeviceScope>(X).store(1, Release);
        }
        _ => {}
    };
    assert_everywhere(test, &all_outcomes(2));
}

#[test]
fn an_update_is_a_later_store_too() {
    let test: Test = |round, number| match number {
        0 => load_and_write(round, (X, 0), Y),
        1 => {
            load(round, Y, 1);
            round.variable::<DeviceScope>(X).fetch_add(1, Relaxed);
        }
        _ => {}
    };
    assert_everywhere(test, &all_outcomes(2));
}

/// The second load of the word is after the first, which has returned the store.
#[test]
fn a_later_store_is_seen_from_then_on() {
    let test: Test = |round, number| match number {
        0 => {
            load_and_write(round, (X, 0), Y);
            load(round, X, 1);
        }
        1 => load_and_write(round, (Y, 2), X),
        _ => {}
    };
    let goes_back = |outcome: &Vec<u32>| outcome[0] > outcome[1];
    let mut expected = all_outcomes(3);
    expected.retain(|outcome| !goes_back(outcome));
    assert_everywhere(test, &expected);
}

/// No value comes out of thin air: each thread would store what the other has read.
#[test]
fn copies_of_each_other_stay_zero() {
    let test: Test = |round, number| {
        if let 0 | 1 = number {
            let (own, other) = [(X, Y), (Y, X)][number];
            let value = load(round, own, number);
            round.write_value(other, value);
        }
    };
    assert_everywhere(test, &set_of(&[&[0, 0]]));
}

#[test]
fn conditions_on_each_other_stay_false() {
    let test: Test = |round, number| {
        if let 0 | 1 = number {
            let (own, other) = [(X, Y), (Y, X)][number];
            if load(round, own, number) == 1 {
                round.write(other);
            }
        }
    };
    assert_everywhere(test, &set_of(&[&[0, 0]]));
}

/// A copy of one that does not depend on it.
#[test]
fn a_copy_of_a_later_store_is_read() {
    let test: Test = |round, number| match number {
        0 => {
            let value = load(round, X, 0);
            round.write_value(Y, value);
        }
        1 => load_and_write(round, (Y, 1), X),
        _ => {}
    };
    assert_everywhere(test, &set_of(&[&[0, 0], &[1, 0], &[1, 1]]));
}

#[test]
fn a_condition_on_a_later_store_is_true() {
    let test: Test = |round, number| match number {
        0 if load(round, X, 0) == 1 => round.write(Y),
        1 => load_and_write(round, (Y, 1), X),
        _ => {}
    };
    assert_everywhere(test, &set_of(&[&[0, 0], &[1, 0], &[1, 1]]));
}

/// If the first thread reads 1, the second one stores X for another reason: the first one stores Y, instead of the
/// third one, which does so only while Z is 0.
#[test]
fn a_store_may_not_become_its_own_reason() {
    const Z: usize = 2;
    let test: Test = |round, number| match number {
        0 if load(round, X, 0) == 1 => {
            round.write(Z);
            round.write(Y);
        }
        1 if load(round, Y, 1) == 1 => round.write(X),
        2 if load(round, Z, 2) == 0 => round.write(Y),
        _ => {}
    };
    assert_everywhere(test, &set_of(&[&[0, 0, 0], &[0, 1, 0], &[1, 1, 0]]));
}

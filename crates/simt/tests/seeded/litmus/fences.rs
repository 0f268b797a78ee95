//! Orders by fences between relaxed accesses. With fences whose scope includes all threads, no outcome is weak.

use super::{
    Conditions, Means, PLACES, SCOPES, Test, X, Y, all_outcomes, assert_seen, causality, iriw,
    load_buffering, message_passing, store_buffering,
};
use simt::MemoryScope;

/// Fails unless all outcomes of a test occur, except the `weak` one if fences that include both threads forbid it.
/// `needs_order`: only sequentially consistent fences forbid it, so fences that acquire and release allow it with any
/// scope.
fn assert_outcomes(test: Test, weak: &[u32], needs_order: bool) {
    let all = all_outcomes(weak.len());
    let mut strong = all.clone();
    strong.remove(weak);
    for place in PLACES {
        let fences = SCOPES.map(Means::Fence);
        let weaker = SCOPES.map(Means::AcqRelFence);
        for means in [Means::Nothing].into_iter().chain(fences).chain(weaker) {
            for weak_memory in [true, false] {
                let is_fenced = match means {
                    Means::Fence(scope) => place.is_in(scope),
                    Means::AcqRelFence(scope) => place.is_in(scope) && !needs_order,
                    _ => false,
                };
                let is_weak = weak_memory && !is_fenced;
                let conditions = Conditions {
                    place,
                    means,
                    parallel_blocks: false,
                    weak_memory,
                };
                assert_seen(test, if is_weak { &all } else { &strong }, conditions);
            }
        }
    }
}

/// Only sequentially consistent fences forbid it.
#[test]
fn store_buffering_needs_fences() {
    assert_outcomes(store_buffering, &[0, 0], true);
}

#[test]
fn message_passing_needs_fences() {
    assert_outcomes(message_passing, &[1, 0], false);
}

#[test]
fn load_buffering_needs_fences() {
    assert_outcomes(load_buffering, &[1, 1], false);
}

/// Only sequentially consistent fences make them agree.
#[test]
fn two_readers_agree_on_the_order_of_two_writes() {
    assert_outcomes(iriw, &[1, 0, 1, 0], true);
}

/// What a thread has read comes before its release, so the third thread reads nothing older.
#[test]
fn what_was_read_is_handed_on() {
    assert_outcomes(causality, &[1, 1, 0], false);
}

/// A fence of each kind: only two sequentially consistent ones are ordered.
#[test]
fn a_fence_that_acquires_and_releases_is_no_part_of_the_order() {
    let test: Test = |round, number| {
        if let 0 | 1 = number {
            let (own, other) = [(X, Y), (Y, X)][number];
            round.write(own);
            match number {
                0 => simt::fence(MemoryScope::Device),
                _ => simt::fence_acq_rel(MemoryScope::Device),
            }
            round.read(other, number);
        }
    };
    for place in PLACES {
        let conditions = Conditions {
            place,
            means: Means::Nothing,
            parallel_blocks: false,
            weak_memory: true,
        };
        assert_seen(test, &all_outcomes(2), conditions);
    }
}

//! Orders by fences between relaxed accesses: with fences whose scope has all threads, no outcome is weak.

use super::{
    Conditions, Means, PLACES, SCOPES, Test, all_outcomes, assert_seen, causality, iriw,
    load_buffering, message_passing, store_buffering,
};

/// Fails unless all outcomes of a test but the `weak` one are seen, and that one too where `is_allowed`:
/// where no fence, or none that includes both threads, forbids it.
fn assert_outcomes(test: Test, weak: &[u32], is_allowed: bool) {
    let all = all_outcomes(weak.len());
    let mut strong = all.clone();
    strong.remove(weak);
    for place in PLACES {
        let fences = SCOPES.map(Means::Fence);
        for means in [Means::Nothing].into_iter().chain(fences) {
            for weak_memory in [true, false] {
                let is_fenced = matches!(means, Means::Fence(scope) if place.is_in(scope));
                let is_weak = is_allowed && weak_memory && !is_fenced;
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

#[test]
fn store_buffering_needs_fences() {
    assert_outcomes(store_buffering, &[0, 0], true);
}

#[test]
fn message_passing_needs_fences() {
    assert_outcomes(message_passing, &[1, 0], true);
}

/// The model allows it without fences, and no run that makes its steps one after another has it.
#[test]
fn load_buffering_is_not_seen() {
    assert_outcomes(load_buffering, &[1, 1], false);
}

#[test]
fn two_readers_agree_on_the_order_of_two_writes() {
    assert_outcomes(iriw, &[1, 0, 1, 0], true);
}

/// What a thread has read is before what comes after its release: the third thread reads nothing older.
#[test]
fn what_was_read_is_handed_on() {
    assert_outcomes(causality, &[1, 1, 0], true);
}

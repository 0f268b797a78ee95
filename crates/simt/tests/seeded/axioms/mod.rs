//! Compares the outcomes of small programs with all those that the axioms of the memory model allow.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

mod model;
mod program;
mod relation;

use model::Allowed;
use program::{Program, programs};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// The number of seeds of each program.
const SEEDS: u64 = 24;

/// Predictions occur only under some seeds.
const SEEDS_OF_LATER_STORES: u64 = 200;

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_axioms_allow_each_outcome(program in programs()) {
        let allowed = Allowed::of(&program);
        for seed in 0..SEEDS {
            let outcome = program.run(seed);
            prop_assert!(allowed.all.contains(&outcome), "seed {seed}: {outcome:?}");
        }
    }
}

/// Whether a program has outcomes that need a load of a later store, and the number of those that occur.
fn later_outcomes(program: &Program) -> (usize, usize) {
    let allowed = Allowed::of(program);
    let later: Vec<_> = allowed.all.difference(&allowed.in_order).collect();
    if later.is_empty() {
        return (0, 0);
    }
    let mut seen: Vec<_> = (1..SEEDS_OF_LATER_STORES)
        .map(|seed| program.run(seed))
        .collect();
    seen.sort_unstable();
    seen.dedup();
    assert!(
        seen.iter().all(|outcome| allowed.all.contains(outcome)),
        "{program:?}"
    );
    let is_seen = |outcome: &&&_| seen.binary_search(outcome).is_ok();
    (later.len(), later.iter().filter(is_seen).count())
}

/// Enough programs have outcomes that need a load of a later store, and enough of these occur.
#[test]
fn later_stores_are_returned() {
    let mut runner = TestRunner::deterministic();
    let mut draw = || programs().new_tree(&mut runner).unwrap().current();
    let (mut allowed, mut seen) = (0, 0);
    for _ in 0..2000 {
        let of_program = later_outcomes(&draw());
        allowed += of_program.0;
        seen += of_program.1;
    }
    assert!(
        seen > 100 && 4 * seen > allowed,
        "{seen} of {allowed} are seen"
    );
}

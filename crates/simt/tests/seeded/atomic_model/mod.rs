//! Compares the checks of atomic accesses, fences and partial barriers with a slow model.

mod model;
mod program;

use model::expected;
use program::{Step, found, found_in_cluster, in_cluster, in_first_block, steps};
use proptest::prelude::*;
use simt::{DefectKind, Space};

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// A race is found at its step, and nothing is found without one.
    #[test]
    fn races_of_atomics_are_those_of_the_model(steps in steps(), seed in 1_u64..4) {
        let found = found(&steps, seed, Space::Global);
        let expected = expected(&steps);
        prop_assert!(found.map_or(expected.is_empty(), |kind| expected.contains(&kind)), "{found:?} of {expected:?}");
    }

    #[test]
    fn races_of_atomics_in_shared_memory_are_those_of_the_model(steps in steps(), seed in 1_u64..4) {
        let steps: Vec<Step> = steps.iter().map(in_first_block).collect();
        let found = found(&steps, seed, Space::Shared);
        let expected = expected(&steps);
        prop_assert!(found.map_or(expected.is_empty(), |kind| expected.contains(&kind)), "{found:?} of {expected:?}");
    }

    #[test]
    fn races_of_atomics_in_the_memory_of_another_block_are_those_of_the_model(steps in steps(), seed in 1_u64..4) {
        let steps: Vec<Step> = steps.iter().map(in_cluster).collect();
        let found = found_in_cluster(&steps, seed);
        let expected = expected(&steps);
        prop_assert!(found.map_or(expected.is_empty(), |kind| expected.contains(&kind)), "{found:?} of {expected:?}");
    }
}

/// Enough programs have a race with atomic accesses, and enough with several steps have none.
#[test]
fn programs_have_races_and_have_none() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut draw = || steps().new_tree(&mut runner).unwrap().current();
    let programs: Vec<Vec<Step>> = (0..500).map(|_| draw()).collect();
    let of_atomics = |steps: &&Vec<Step>| expected(steps).contains(&DefectKind::AtomicRace);
    let races = programs.iter().filter(of_atomics).count();
    let without = |steps: &&Vec<Step>| steps.len() > 5 && expected(steps).is_empty();
    let right = programs.iter().filter(without).count();
    assert!(
        races > 100 && right > 25,
        "{races} with races, {right} without"
    );
}

//! Mbarriers and the barrier of a cluster against a slow model: which phases are complete, and what they order.

mod model;
mod program;

use model::{Outcome, expected};
use program::{Step, run, steps};
use proptest::prelude::*;
use simt::Space;

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each test of a phase returns what the model says, and the first step that is wrong is found.
    #[test]
    fn barriers_order_global_memory_as_the_model_does(steps in steps(), seed in 0_u64..8) {
        prop_assert_eq!(run(&steps, seed, Space::Global), expected(&steps));
    }

    #[test]
    fn barriers_order_the_memory_of_a_cluster_as_the_model_does(steps in steps(), seed in 0_u64..8) {
        prop_assert_eq!(run(&steps, seed, Space::Shared), expected(&steps));
    }
}

/// Enough programs have phases that are complete and accesses that waits alone order, enough have a race, and
/// some arrive too often.
#[test]
fn programs_are_right_and_wrong() {
    use proptest::strategy::ValueTree;
    use simt::DefectKind::{BarrierMisuse, DataRace};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut draw = || steps().new_tree(&mut runner).unwrap().current();
    let programs: Vec<Vec<Step>> = (0..500).map(|_| draw()).collect();
    let outcomes: Vec<Outcome> = programs.iter().map(|steps| expected(steps)).collect();
    let count = |is_counted: &dyn Fn(&Outcome) -> bool| {
        outcomes
            .iter()
            .filter(|outcome| is_counted(outcome))
            .count()
    };
    let found = |kind| count(&|outcome| *outcome == Err(kind));
    let passed = count(&|outcome| outcome.as_ref().is_ok_and(|values| values.contains(&1)));
    let ordered = programs.iter().filter(|steps| {
        let is_no_wait =
            |step: &&Step| !matches!(step, Step::Wait { .. } | Step::ClusterWait { .. });
        let unordered: Vec<Step> = steps.iter().filter(is_no_wait).copied().collect();
        expected(steps).is_ok() && expected(&unordered) == Err(DataRace)
    });
    let (ordered, races, misused) = (ordered.count(), found(DataRace), found(BarrierMisuse));
    assert!(
        passed > 50 && ordered > 25 && races > 50 && misused > 5,
        "{passed} with complete phases, {ordered} ordered by them, {races} races, {misused} misused"
    );
}

//! Compares mbarriers and the cluster's barrier with a slow model: which phases are complete, by arrivals and by the
//! bytes of bulk copies, and what they order.

mod model;
mod program;

use model::{Outcome, expected};
use program::{Step, run, steps};
use proptest::prelude::*;
use simt::Space;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each test of a phase returns the model's answer, and the first wrong step is found.
    #[test]
    fn barriers_order_global_memory_as_the_model_does(steps in steps(), seed in 0_u64..8) {
        prop_assert_eq!(run(&steps, seed, Space::Global), expected(&steps));
    }

    #[test]
    fn barriers_order_the_memory_of_a_cluster_as_the_model_does(steps in steps(), seed in 0_u64..8) {
        prop_assert_eq!(run(&steps, seed, Space::Shared), expected(&steps));
    }
}

/// Enough programs have complete phases and accesses that only waits order, enough have a race, some arrive too often,
/// and enough read lines that copies have filled, with and without a wait.
#[test]
fn programs_are_right_and_wrong() {
    use proptest::strategy::ValueTree;
    use simt::DefectKind::{AsyncHazard, BarrierMisuse, DataRace};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut draw = || steps().new_tree(&mut runner).unwrap().current();
    let programs: Vec<Vec<Step>> = (0..2000).map(|_| draw()).collect();
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
        // Without waits, reading lines is wrong for another reason.
        let is_kept = |step: &&Step| {
            use Step::{ClusterWait, ReadLine, Wait};
            !matches!(step, Wait { .. } | ClusterWait { .. } | ReadLine { .. })
        };
        let unordered: Vec<Step> = steps.iter().filter(is_kept).copied().collect();
        expected(steps).is_ok() && expected(&unordered) == Err(DataRace)
    });
    let filled = programs.iter().filter(|steps| {
        let reads = steps
            .iter()
            .any(|step| matches!(step, Step::ReadLine { .. }));
        reads && expected(steps).is_ok()
    });
    let (ordered, races, misused) = (ordered.count(), found(DataRace), found(BarrierMisuse));
    let (filled, early) = (filled.count(), found(AsyncHazard));
    assert!(
        passed > 200 && ordered > 25 && races > 100 && misused > 50 && filled > 100 && early > 100,
        "{passed} with complete phases, {ordered} ordered by them, {races} races, {misused} misused, \
         {filled} with lines that were waited for, {early} that were not"
    );
}

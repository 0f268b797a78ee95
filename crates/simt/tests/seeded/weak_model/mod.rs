//! Compares the stores that atomic loads return with a slow model of the memory model.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

mod model;
mod program;

use model::Loads;
use program::{Step, in_first_block, run, steps};
use proptest::prelude::*;
use simt::{MemoryOrder, Space};

/// The values that the steps' loads return under a seed, all of which the model allows.
fn loads(steps: &[Step], seed: u64, space: Space) -> Loads {
    Loads::of(steps, &run(steps, seed, space))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn loads_return_what_the_model_allows(steps in steps(), seed in 1_u64..9) {
        let loads = loads(&steps, seed, Space::Global);
        prop_assert!(loads.forbidden.is_empty(), "{:?}", loads.forbidden);
    }

    #[test]
    fn loads_of_shared_memory_return_what_the_model_allows(steps in steps(), seed in 1_u64..9) {
        let steps: Vec<Step> = steps.iter().map(in_first_block).collect();
        let loads = loads(&steps, seed, Space::Shared);
        prop_assert!(loads.forbidden.is_empty(), "{:?}", loads.forbidden);
    }
}

/// Enough loads return older stores. Enough of those that must return the newest must do so because of an order, not
/// because there is only one store.
#[test]
fn programs_have_older_stores_that_are_allowed_and_forbidden() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut draw = || steps().new_tree(&mut runner).unwrap().current();
    let (mut older, mut ordered) = (0, 0);
    for seed in 1..500 {
        let loads = loads(&draw(), seed, Space::Global);
        older += loads.older;
        ordered += loads.ordered;
    }
    assert!(
        older > 100 && ordered > 100,
        "{older} older, {ordered} ordered"
    );
}

/// Each store that the model allows is returned under some seed, if few stores follow it.
#[test]
fn each_store_that_is_allowed_is_returned() {
    let order = MemoryOrder::Relaxed;
    let store = |word| Step::Store {
        actor: 0,
        word,
        order,
    };
    let load = |actor| Step::Load {
        actor,
        word: 0,
        order,
    };
    let steps = [store(0), store(0), load(4), load(4), load(5)];
    let mut seen = std::collections::BTreeSet::new();
    for seed in 1..4000 {
        let values = run(&steps, seed, Space::Global);
        seen.insert([values[2], values[3], values[4]]);
    }
    // A thread's second load is never older than its first.
    let pairs = (0..3).flat_map(|first| (first..3).map(move |second| [first, second]));
    let all = pairs.flat_map(|[first, second]| (0..3).map(move |other| [first, second, other]));
    assert!(seen.into_iter().eq(all));
}

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
use simt::MemoryOrder;

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

/// Thread 1 reads 15 from thread 2, which has it from thread 1's own exchange; that exchange also reads a 15, which
/// decides nothing.
#[test]
fn the_value_of_an_exchange_depends_on_no_read() {
    use program::{Step, Value};
    let order = MemoryOrder::Relaxed;
    let load = |word| Step::Load { word, order };
    let store = |word| {
        let value = Value::Read;
        Step::Store { word, value, order }
    };
    let exchange = Step::Exchange { word: 0, order };
    let program = Program {
        threads: [
            vec![load(0), exchange],
            vec![load(1), store(0), exchange],
            vec![load(0), store(1)],
        ],
        are_apart: false,
    };
    let allowed = Allowed::of(&program);
    let outcome = ([[0, 15, 0], [15, 0, 15], [15, 0, 0]], [11, 15]);
    assert!(allowed.all.contains(&outcome) && !allowed.in_order.contains(&outcome));
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

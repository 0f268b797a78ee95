//! Compares the checks of memory with a slow, obviously correct model: sets of all earlier accesses.

use crate::harness::{Memory, Shared, me, run_and_read, shared};
use cuda_std::prelude::*;
use proptest::prelude::*;
use simt::{DefectKind, Options};
use std::collections::BTreeSet;

/// The threads that access memory: lanes of two warps.
const ACTORS: [usize; 5] = [0, 1, 17, 32, 63];
const WORDS: usize = 3;
const THREADS: u32 = 64;

/// The steps of a program, which each thread takes in order.
#[derive(Clone, Copy, Debug)]
enum Step {
    Read {
        actor: usize,
        word: usize,
    },
    Write {
        actor: usize,
        word: usize,
    },
    /// All threads of the block meet.
    Block,
    /// These lanes of the first warp meet.
    Lanes(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let access = (0..ACTORS.len(), 0..WORDS);
    let step = prop_oneof![
        4 => access.clone().prop_map(|(actor, word)| Step::Read { actor, word }),
        2 => access.prop_map(|(actor, word)| Step::Write { actor, word }),
        1 => Just(Step::Block),
        1 => prop_oneof![Just(0b11), Just(1 << 17 | 1), Just(1 << 17 | 0b10), Just(u32::MAX)]
            .prop_map(Step::Lanes),
    ];
    prop::collection::vec(step, 1..14)
}

/// Whether two accesses of one word by different threads, one of them a write, are unordered. Each thread knows the set
/// of all accesses before it, and a barrier gives its threads the union.
fn has_race(steps: &[Step]) -> bool {
    let mut known = vec![BTreeSet::new(); ACTORS.len()];
    let mut accesses: Vec<(usize, usize, bool)> = Vec::new();
    for step in steps {
        let (actor, word, writes) = match *step {
            Step::Read { actor, word } => (actor, word, false),
            Step::Write { actor, word } => (actor, word, true),
            Step::Block => {
                meet(&mut known, |_| true);
                continue;
            }
            Step::Lanes(mask) => {
                meet(&mut known, |thread| thread < 32 && mask >> thread & 1 == 1);
                continue;
            }
        };
        let conflicts = |(number, other): (usize, &(usize, usize, bool))| {
            other.0 != actor
                && other.1 == word
                && (other.2 || writes)
                && !known[actor].contains(&number)
        };
        if accesses.iter().enumerate().any(conflicts) {
            return true;
        }
        known[actor].insert(accesses.len());
        accesses.push((actor, word, writes));
    }
    false
}

fn meet(known: &mut [BTreeSet<usize>], is_there: impl Fn(usize) -> bool) {
    let there = |actor: &usize| is_there(ACTORS[*actor]);
    let all: BTreeSet<usize> = (0..ACTORS.len())
        .filter(there)
        .flat_map(|actor| known[actor].clone())
        .collect();
    for actor in (0..ACTORS.len()).filter(there) {
        known[actor].clone_from(&all);
    }
}

/// Runs the calling thread's steps, on words of shared or of global memory.
fn run_steps(steps: &[Step], memory: &Memory, words: Option<Shared<'_, u32, WORDS>>) {
    for step in steps {
        match *step {
            Step::Read { actor, word } if ACTORS[actor] == me() => {
                let _ = words.map_or_else(|| memory.input.get(word), |words| words.get(word));
            }
            Step::Write { actor, word } if ACTORS[actor] == me() => {
                words.map_or_else(|| memory.input.set(word, 7), |words| words.set(word, 7));
            }
            Step::Block => thread::sync_threads(),
            Step::Lanes(mask) if me() < 32 && mask >> me() & 1 == 1 => {
                warp::sync(LaneMask::from_bits(mask.into()));
            }
            _ => {}
        }
    }
}

/// The simulator's findings in the steps under a seed.
fn found(steps: &[Step], seed: u64, is_shared: bool) -> Option<DefectKind> {
    let options = Options {
        seed,
        parallel_blocks: false,
        finding_limit: 1,
        ..Options::default()
    };
    let kernel = |memory: &Memory| {
        if !is_shared {
            return run_steps(steps, memory, None);
        }
        let words = shared!(u32; WORDS);
        if me() < WORDS {
            words.set(me(), 1);
        }
        thread::sync_threads();
        run_steps(steps, memory, Some(words));
    };
    let result = run_and_read(crate::borrowed::run, &options, (1, THREADS), &kernel);
    result.err().map(|defect| defect.kind)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Under any schedule, a race is found if there is one, and nothing otherwise.
    #[test]
    fn races_are_those_of_the_model(steps in steps(), seed in 0_u64..4, is_shared: bool) {
        let expected = has_race(&steps).then_some(DefectKind::DataRace);
        prop_assert_eq!(found(&steps, seed, is_shared), expected);
    }
}

//! Litmus tests (Alglave, Maranget, Tautschnig, "Herding cats: modelling, simulation, testing, and
//! data mining for weak memory", TOPLAS 2014) at the scope of a warp, a block, a cluster and the device.
//! What the memory model of the PTX ISA forbids is never seen, and what it allows is, but for load
//! buffering.

mod coherence;
mod fences;
mod orders;

use crate::harness::{Memory, Run, Words, block, me, run_and_read};
use cuda_std::atomic::{Acquire, AtomicRef, BlockScope, ClusterScope, DeviceScope, Release, Scope};
use cuda_std::prelude::*;
use simt::{Defect, Dim3, Launch, MemoryScope, Options, Report};
use std::collections::BTreeSet;

/// How often each launch runs a test, each time in words of its own.
const ROUNDS: usize = 8;
const WORDS: usize = 16;
const SEEDS: u64 = 128;

/// Where the threads of a test are: the size of the launch, and which of them the caller is.
#[derive(Clone, Copy, Debug)]
enum Place {
    Warp,
    Block,
    /// The four blocks of one.
    Cluster,
    Device,
}

const PLACES: [Place; 4] = [Place::Warp, Place::Block, Place::Cluster, Place::Device];

impl Place {
    fn size(self) -> (u32, u32) {
        match self {
            Self::Warp => (1, 32),
            Self::Block => (1, 128),
            Self::Cluster | Self::Device => (4, 1),
        }
    }

    fn run(self) -> Run {
        match self {
            Self::Cluster => run_in_cluster,
            _ => simt::run,
        }
    }

    fn number(self) -> Option<usize> {
        match self {
            Self::Warp => Some(me()),
            Self::Block => me().is_multiple_of(32).then(|| me() / 32),
            Self::Cluster | Self::Device => Some(block()),
        }
    }

    /// Whether a scope has all threads of a test at this place.
    fn is_in(self, scope: MemoryScope) -> bool {
        match self {
            Self::Warp | Self::Block => true,
            Self::Cluster => scope != MemoryScope::Block,
            Self::Device => scope == MemoryScope::Device,
        }
    }
}

fn run_in_cluster(launch: &Launch<'_>, kernel: &(dyn Fn() + Sync)) -> Result<Report, Box<Defect>> {
    let cluster = Dim3::from(4);
    simt::run(&Launch { cluster, ..*launch }, kernel)
}

/// How the threads of a test order what they do.
#[derive(Clone, Copy, Debug)]
enum Means {
    Nothing,
    /// By a fence between two accesses.
    Fence(MemoryScope),
    /// Writes release, and reads acquire.
    Order(MemoryScope),
}

impl Means {
    fn fence(self) {
        if let Self::Fence(scope) = self {
            simt::fence(scope);
        }
    }
}

const SCOPES: [MemoryScope; 3] = [
    MemoryScope::Block,
    MemoryScope::Cluster,
    MemoryScope::Device,
];

/// The words of one round: two variables, and what the threads have read.
struct Round<'a> {
    words: Words<'a>,
    first: usize,
    means: Means,
}

const X: usize = 0;
const Y: usize = 1;
const RESULTS: usize = 4;

/// A variable, for accesses of a scope.
fn in_scope<'a, S: Scope>(words: Words<'a>, index: usize) -> AtomicRef<'a, u32, S> {
    // SAFETY: (1) the words of the rounds are there. (2) The variables are accessed by atomic operations
    // alone. Of the scope: (1) the simulator ends a launch that breaks this.
    unsafe { words.0.atomic_ref(index).with_scope() }
}

impl Round<'_> {
    #[track_caller]
    fn write(&self, variable: usize) {
        self.write_value(variable, 1);
    }

    #[track_caller]
    fn write_value(&self, variable: usize, value: u32) {
        let (words, index) = (self.words, self.first + variable);
        match self.means {
            Means::Order(MemoryScope::Block) => {
                in_scope::<BlockScope>(words, index).store(value, Release);
            }
            Means::Order(MemoryScope::Cluster) => {
                in_scope::<ClusterScope>(words, index).store(value, Release);
            }
            Means::Order(_) => in_scope::<DeviceScope>(words, index).store(value, Release),
            _ => words.atomic_set(index, value),
        }
    }

    #[track_caller]
    fn read(&self, variable: usize, result: usize) {
        let (words, index) = (self.words, self.first + variable);
        let value = match self.means {
            Means::Order(MemoryScope::Block) => in_scope::<BlockScope>(words, index).load(Acquire),
            Means::Order(MemoryScope::Cluster) => {
                in_scope::<ClusterScope>(words, index).load(Acquire)
            }
            Means::Order(_) => in_scope::<DeviceScope>(words, index).load(Acquire),
            _ => words.atomic_get(index),
        };
        self.words.set(self.first + RESULTS + result, value);
    }

    fn fence(&self) {
        self.means.fence();
    }
}

/// What thread `number` of a test does.
type Test = fn(&Round<'_>, usize);

fn store_buffering(round: &Round<'_>, number: usize) {
    if let 0 | 1 = number {
        let (own, other) = [(X, Y), (Y, X)][number];
        round.write(own);
        round.fence();
        round.read(other, number);
    }
}

fn message_passing(round: &Round<'_>, number: usize) {
    match number {
        0 => {
            round.write(X);
            round.fence();
            round.write(Y);
        }
        1 => {
            round.read(Y, 0);
            round.fence();
            round.read(X, 1);
        }
        _ => {}
    }
}

fn load_buffering(round: &Round<'_>, number: usize) {
    if let 0 | 1 = number {
        let (own, other) = [(X, Y), (Y, X)][number];
        round.read(own, number);
        round.fence();
        round.write(other);
    }
}

/// Independent reads of independent writes.
fn iriw(round: &Round<'_>, number: usize) {
    match number {
        0 => round.write(X),
        1 => round.write(Y),
        2 => {
            round.read(X, 0);
            round.fence();
            round.read(Y, 1);
        }
        3 => {
            round.read(Y, 2);
            round.fence();
            round.read(X, 3);
        }
        _ => {}
    }
}

/// Write-to-read causality.
fn causality(round: &Round<'_>, number: usize) {
    match number {
        0 => round.write(X),
        1 => {
            round.read(X, 0);
            round.fence();
            round.write(Y);
        }
        2 => {
            round.read(Y, 1);
            round.fence();
            round.read(X, 2);
        }
        _ => {}
    }
}

/// How a test is run.
#[derive(Clone, Copy, Debug)]
struct Conditions {
    place: Place,
    means: Means,
    parallel_blocks: bool,
    weak_memory: bool,
}

/// What the threads of a test have read, over all seeds and rounds.
fn outcomes(test: Test, conditions: Conditions, results: usize) -> BTreeSet<Vec<u32>> {
    let Conditions { place, means, .. } = conditions;
    let kernel = |memory: &Memory| {
        let Some(number) = place.number() else {
            return;
        };
        for round in 0..ROUNDS {
            let words = memory.counters;
            let first = round * WORDS;
            let round = Round {
                words,
                first,
                means,
            };
            test(&round, number);
        }
    };
    let mut seen = BTreeSet::new();
    for seed in 0..SEEDS {
        let options = Options {
            seed,
            parallel_blocks: conditions.parallel_blocks,
            weak_memory: conditions.weak_memory,
            ..Options::default()
        };
        let counters = run_and_read(place.run(), &options, place.size(), &kernel)
            .unwrap_or_else(|defect| panic!("{conditions:?}: {defect}"));
        let rounds = counters.chunks(WORDS).take(ROUNDS);
        seen.extend(rounds.map(|words| words[RESULTS..RESULTS + results].to_vec()));
    }
    seen
}

/// All outcomes of a test that reads 0 or 1 so many times.
fn all_outcomes(results: usize) -> BTreeSet<Vec<u32>> {
    let of_bits = |bits: u32| (0..results).map(move |bit| bits >> bit & 1).collect();
    (0..1_u32 << results).map(of_bits).collect()
}

/// Fails unless exactly the outcomes `expected` are seen, or on several host threads no other.
fn assert_seen(test: Test, expected: &BTreeSet<Vec<u32>>, conditions: Conditions) {
    let results = expected.first().expect("a run has an outcome").len();
    let seen = outcomes(test, conditions, results);
    assert_eq!(&seen, expected, "{conditions:?}");
    let conditions = Conditions {
        parallel_blocks: true,
        ..conditions
    };
    let seen = outcomes(test, conditions, results);
    assert!(seen.is_subset(expected), "{conditions:?}: {seen:?}");
}

//! Litmus tests (Alglave, Maranget, Tautschnig, "Herding cats: modelling, simulation, testing, and data mining for weak
//! memory", TOPLAS 2014) at the scope of a warp, a block, a cluster and the device. Outcomes that the memory model of
//! the PTX ISA forbids never occur, and those that it allows do.

mod buffering;
mod coherence;
mod fences;
mod orders;

use crate::harness::{Memory, Run, Words, block, me, run_and_read, run_in_cluster};
use cuda_std::atomic::{
    Acquire, AtomicRef, BlockScope, ClusterScope, DeviceScope, Relaxed, Release, Scope,
};
use cuda_std::cluster;
use cuda_std::prelude::*;
use cuda_std::shared::RemoteSlice;
use simt::{MemoryScope, Options};
use std::collections::BTreeSet;
use std::ops::Range;

/// The rounds of a test in a launch, each with its own words.
const ROUNDS: usize = 8;
const WORDS: usize = 16;
/// Fixed, whatever `TILEWRIGHT_SEEDS` says: each outcome that the model allows occurs under one of these.
const SEEDS: u64 = 128;

/// The place of a test's threads: the size of the launch, and the caller's number in it.
#[derive(Clone, Copy, Debug)]
enum Place {
    Warp,
    Block,
    /// The four blocks of a cluster.
    Cluster,
    /// The same, with variables in the shared memory of one block.
    Peer,
    Device,
}

const PLACES: [Place; 5] = [
    Place::Warp,
    Place::Block,
    Place::Cluster,
    Place::Peer,
    Place::Device,
];

impl Place {
    fn size(self) -> (u32, u32) {
        match self {
            Self::Warp => (1, 32),
            Self::Block => (1, 128),
            Self::Cluster | Self::Peer | Self::Device => (4, 1),
        }
    }

    fn run(self) -> Run {
        match self {
            Self::Cluster | Self::Peer => run_in_cluster,
            _ => crate::borrowed::run,
        }
    }

    /// Blocks that have met before are less often between two accesses of others.
    fn seeds(self) -> u64 {
        match self {
            Self::Peer => 4 * SEEDS,
            _ => SEEDS,
        }
    }

    fn number(self) -> Option<usize> {
        match self {
            Self::Warp => Some(me()),
            Self::Block => me().is_multiple_of(32).then(|| me() / 32),
            Self::Cluster | Self::Peer | Self::Device => Some(block()),
        }
    }

    /// Whether a scope includes all threads of a test at this place.
    fn is_in(self, scope: MemoryScope) -> bool {
        match self {
            Self::Warp | Self::Block => true,
            Self::Cluster | Self::Peer => scope != MemoryScope::Block,
            Self::Device => scope == MemoryScope::Device,
        }
    }
}

/// How the threads of a test order their accesses.
#[derive(Clone, Copy, Debug)]
enum Means {
    Nothing,
    /// By a sequentially consistent fence between two accesses.
    Fence(MemoryScope),
    /// By an acquire-release fence between two accesses.
    AcqRelFence(MemoryScope),
    /// Writes release, and reads acquire.
    Order(MemoryScope),
}

impl Means {
    fn fence(self) {
        match self {
            Self::Fence(scope) => simt::fence(scope),
            Self::AcqRelFence(scope) => simt::fence_acq_rel(scope),
            Self::Nothing | Self::Order(_) => {}
        }
    }
}

const SCOPES: [MemoryScope; 3] = [
    MemoryScope::Block,
    MemoryScope::Cluster,
    MemoryScope::Device,
];

/// The words of one round: two variables, and the values read.
struct Round<'a> {
    words: Words<'a>,
    /// The place of the variables, if not among the words.
    peer: Option<RemoteSlice<'a, u32>>,
    first: usize,
    means: Means,
}

const X: usize = 0;
const Y: usize = 1;
const RESULTS: usize = 4;

impl Round<'_> {
    /// A variable, for accesses of a scope.
    fn variable<S: Scope>(&self, variable: usize) -> AtomicRef<'_, u32, S> {
        let index = self.first + variable;
        // SAFETY: the words of the rounds exist. The variables are accessed only by atomic operations. The blocks meet
        // once more before they end. The simulator ends a launch that breaks the scope's rules.
        unsafe {
            let word = match self.peer {
                Some(peer) => peer.atomic_ref(index),
                None => self.words.0.atomic_ref(index),
            };
            word.with_scope()
        }
    }

    #[track_caller]
    fn write(&self, variable: usize) {
        self.write_value(variable, 1);
    }

    #[track_caller]
    fn write_value(&self, variable: usize, value: u32) {
        match self.means {
            Means::Order(MemoryScope::Block) => {
                self.variable::<BlockScope>(variable).store(value, Release);
            }
            Means::Order(MemoryScope::Cluster) => {
                self.variable::<ClusterScope>(variable)
                    .store(value, Release);
            }
            Means::Order(_) => self.variable::<DeviceScope>(variable).store(value, Release),
            _ => self.variable::<DeviceScope>(variable).store(value, Relaxed),
        }
    }

    #[track_caller]
    fn read(&self, variable: usize, result: usize) {
        let value = match self.means {
            Means::Order(MemoryScope::Block) => self.variable::<BlockScope>(variable).load(Acquire),
            Means::Order(MemoryScope::Cluster) => {
                self.variable::<ClusterScope>(variable).load(Acquire)
            }
            Means::Order(_) => self.variable::<DeviceScope>(variable).load(Acquire),
            _ => self.variable::<DeviceScope>(variable).load(Relaxed),
        };
        self.set_result(result, value);
    }

    #[track_caller]
    fn set_result(&self, result: usize, value: u32) {
        self.words.set(self.first + RESULTS + result, value);
    }

    fn fence(&self) {
        self.means.fence();
    }
}

/// The accesses of thread `number` of a test.
type Test = fn(&Round<'_>, usize);

/// Takes a thread of a launch through rounds of a test.
fn take_rounds((place, means): (Place, Means), rounds: usize, words: Words<'_>, test: Test) {
    let variables = shared_array![u32; ROUNDS * WORDS];
    let peer = match place {
        Place::Peer => Some(variables.as_slice().in_block(0)),
        _ => None,
    };
    if peer.is_some() {
        if cluster::rank() == 0 {
            // SAFETY: the array has this many elements. The block has one thread, and the cluster meets next.
            (0..ROUNDS * WORDS).for_each(|word| unsafe { variables.store(word, 0) });
        }
        cluster::sync();
    }
    if let Some(number) = place.number() {
        for round in 0..rounds {
            let round = Round {
                words,
                peer,
                first: round * WORDS,
                means,
            };
            test(&round, number);
        }
    }
    if peer.is_some() {
        cluster::sync();
    }
}

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

/// The values that a test's threads have read, over all seeds and rounds.
fn outcomes(test: Test, conditions: Conditions, results: usize) -> BTreeSet<Vec<u32>> {
    outcomes_under(0..conditions.place.seeds(), test, conditions, results)
}

/// The same over some seeds.
fn outcomes_under(
    seeds: Range<u64>,
    test: Test,
    conditions: Conditions,
    results: usize,
) -> BTreeSet<Vec<u32>> {
    let Conditions { place, means, .. } = conditions;
    let kernel = |memory: &Memory| take_rounds((place, means), ROUNDS, memory.counters, test);
    let mut seen = BTreeSet::new();
    for seed in seeds {
        let options = Options {
            seed,
            parallel_blocks: conditions.parallel_blocks,
            weak_memory: conditions.weak_memory,
            registered_memory_only: true,
            ..Options::default()
        };
        let counters = run_and_read(place.run(), &options, place.size(), &kernel)
            .unwrap_or_else(|defect| panic!("{conditions:?}: {defect}"));
        let rounds = counters.chunks(WORDS).take(ROUNDS);
        seen.extend(rounds.map(|words| words[RESULTS..RESULTS + results].to_vec()));
    }
    seen
}

/// All outcomes of a test that reads 0 or 1 this many times.
fn all_outcomes(results: usize) -> BTreeSet<Vec<u32>> {
    let of_bits = |bits: u32| (0..results).map(move |bit| bits >> bit & 1).collect();
    (0..1_u32 << results).map(of_bits).collect()
}

/// Fails unless exactly the outcomes `expected` occur; on several host threads, unless no others do.
fn assert_seen(test: Test, expected: &BTreeSet<Vec<u32>>, conditions: Conditions) {
    let results = expected.first().expect("a run has an outcome").len();
    let seen = outcomes(test, conditions, results);
    assert_eq!(&seen, expected, "{conditions:?}");
    // One host thread runs a block or a cluster, whatever the option says.
    if !matches!(conditions.place, Place::Device) {
        return;
    }
    let conditions = Conditions {
        parallel_blocks: true,
        ..conditions
    };
    let seen = outcomes(test, conditions, results);
    assert!(seen.is_subset(expected), "{conditions:?}: {seen:?}");
}

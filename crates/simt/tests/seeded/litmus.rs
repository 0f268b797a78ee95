//! Litmus tests (Alglave, Maranget, Tautschnig, "Herding cats: modelling, simulation, testing, and
//! data mining for weak memory", TOPLAS 2014) at the scope of a warp, a block and the device. What
//! the memory model of the PTX ISA forbids is never seen, and what it allows is, but for load buffering.

use crate::harness::{Memory, Words, block, me, run_and_read};
use cuda_std::prelude::*;
use simt::Options;
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
    Device,
}

impl Place {
    fn size(self) -> (u32, u32) {
        match self {
            Self::Warp => (1, 32),
            Self::Block => (1, 128),
            Self::Device => (4, 1),
        }
    }

    fn number(self) -> Option<usize> {
        match self {
            Self::Warp => Some(me()),
            Self::Block => me().is_multiple_of(32).then(|| me() / 32),
            Self::Device => Some(block()),
        }
    }
}

/// What a test has between two accesses.
#[derive(Clone, Copy, Debug)]
enum Fence {
    None,
    Block,
    Device,
}

impl Fence {
    fn execute(self) {
        match self {
            Self::None => {}
            Self::Block => thread::fence_block(),
            Self::Device => thread::fence_device(),
        }
    }

    /// Whether its scope has all threads of a test at this place.
    fn includes(self, place: Place) -> bool {
        match self {
            Self::None => false,
            Self::Block => !matches!(place, Place::Device),
            Self::Device => true,
        }
    }
}

/// The words of one round: two variables, and what the threads have read.
struct Round<'a> {
    words: Words<'a>,
    first: usize,
}

const X: usize = 0;
const Y: usize = 1;
const RESULTS: usize = 4;

impl Round<'_> {
    fn write(&self, variable: usize) {
        self.words.atomic_set(self.first + variable, 1);
    }

    fn read(&self, variable: usize, result: usize) {
        let value = self.words.atomic_get(self.first + variable);
        self.words.set(self.first + RESULTS + result, value);
    }
}

/// What thread `number` of a test does; it is given a fence, or nothing.
type Test = fn(&Round<'_>, usize, &dyn Fn());

fn store_buffering(round: &Round<'_>, number: usize, fence: &dyn Fn()) {
    if let 0 | 1 = number {
        let (own, other) = [(X, Y), (Y, X)][number];
        round.write(own);
        fence();
        round.read(other, number);
    }
}

fn message_passing(round: &Round<'_>, number: usize, fence: &dyn Fn()) {
    match number {
        0 => {
            round.write(X);
            fence();
            round.write(Y);
        }
        1 => {
            round.read(Y, 0);
            fence();
            round.read(X, 1);
        }
        _ => {}
    }
}

fn load_buffering(round: &Round<'_>, number: usize, fence: &dyn Fn()) {
    if let 0 | 1 = number {
        let (own, other) = [(X, Y), (Y, X)][number];
        round.read(own, number);
        fence();
        round.write(other);
    }
}

/// Independent reads of independent writes.
fn iriw(round: &Round<'_>, number: usize, fence: &dyn Fn()) {
    match number {
        0 => round.write(X),
        1 => round.write(Y),
        2 => {
            round.read(X, 0);
            fence();
            round.read(Y, 1);
        }
        3 => {
            round.read(Y, 2);
            fence();
            round.read(X, 3);
        }
        _ => {}
    }
}

/// How a test is run.
#[derive(Clone, Copy, Debug)]
struct Conditions {
    place: Place,
    fence: Fence,
    parallel_blocks: bool,
    weak_memory: bool,
}

/// What the threads of a test have read, over all seeds and rounds.
fn outcomes(test: Test, conditions: Conditions, results: usize) -> BTreeSet<Vec<u32>> {
    let Conditions { place, fence, .. } = conditions;
    let kernel = |memory: &Memory| {
        let Some(number) = place.number() else {
            return;
        };
        for round in 0..ROUNDS {
            let words = memory.counters;
            let first = round * WORDS;
            test(&Round { words, first }, number, &|| fence.execute());
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
        let counters = run_and_read(simt::run, &options, place.size(), &kernel)
            .unwrap_or_else(|defect| panic!("{conditions:?}: {defect}"));
        let rounds = counters.chunks(WORDS).take(ROUNDS);
        seen.extend(rounds.map(|words| words[RESULTS..RESULTS + results].to_vec()));
    }
    seen
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

/// Fails unless all outcomes of a test but the `weak` one are seen, and that one too where `is_allowed`:
/// where no fence, or none that includes both threads, forbids it.
fn assert_outcomes(test: Test, weak: &[u32], is_allowed: bool) {
    let results = weak.len();
    let all: BTreeSet<Vec<u32>> = (0..1_u32 << results)
        .map(|bits| (0..results).map(|bit| bits >> bit & 1).collect())
        .collect();
    let mut strong = all.clone();
    strong.remove(weak);
    for place in [Place::Warp, Place::Block, Place::Device] {
        for fence in [Fence::None, Fence::Block, Fence::Device] {
            for weak_memory in [true, false] {
                let is_weak = is_allowed && weak_memory && !fence.includes(place);
                let conditions = Conditions {
                    place,
                    fence,
                    parallel_blocks: false,
                    weak_memory,
                };
                let expected = if is_weak { &all } else { &strong };
                assert_seen(test, expected, conditions);
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
fn two_readers_agree_on_the_order_of_two_writes_by_fences() {
    assert_outcomes(iriw, &[1, 0, 1, 0], true);
}

/// Fails unless a test without fences has all outcomes `expected`, and no other, at each place.
fn assert_without_fences(test: Test, expected: &[&[u32]]) {
    let expected = expected.iter().map(|outcome| outcome.to_vec()).collect();
    for place in [Place::Warp, Place::Block, Place::Device] {
        let conditions = Conditions {
            place,
            fence: Fence::None,
            parallel_blocks: false,
            weak_memory: true,
        };
        assert_seen(test, &expected, conditions);
    }
}

/// Two reads of one word by one thread: the second is never older (CoRR).
#[test]
fn reads_of_one_word_go_forward() {
    let test: Test = |round, number, _| match number {
        0 => {
            round.write(X);
            round.words.atomic_set(round.first + X, 2);
        }
        1 => {
            round.read(X, 0);
            round.read(X, 1);
        }
        _ => {}
    };
    let forward: [&[u32]; 6] = [&[0, 0], &[0, 1], &[0, 2], &[1, 1], &[1, 2], &[2, 2]];
    assert_without_fences(test, &forward);
}

/// A thread reads nothing older than its own write, but may read that of another (CoWR).
#[test]
fn a_thread_sees_its_own_writes() {
    let test: Test = |round, number, _| match number {
        0 => {
            round.write(X);
            round.read(X, 0);
        }
        1 => round.words.atomic_set(round.first + X, 2),
        _ => {}
    };
    assert_without_fences(test, &[&[1], &[2]]);
}

/// An update reads what is newest: none is lost.
#[test]
fn updates_read_the_newest_value() {
    let test: Test = |round, number, _| {
        if let 0 | 1 = number {
            let before = round.words.add(round.first + X, 1);
            round.words.set(round.first + RESULTS + number, before);
        }
    };
    assert_without_fences(test, &[&[0, 1], &[1, 0]]);
}

/// What a thread has read is before what comes after its release: the third thread reads nothing older
/// (write-to-read causality).
#[test]
fn what_was_read_is_handed_on() {
    let test: Test = |round, number, fence| match number {
        0 => round.write(X),
        1 => {
            round.read(X, 0);
            fence();
            round.write(Y);
        }
        2 => {
            round.read(Y, 1);
            fence();
            round.read(X, 2);
        }
        _ => {}
    };
    assert_outcomes(test, &[1, 1, 0], true);
}

/// A barrier of the block orders all.
#[test]
fn after_a_barrier_all_see_what_was_before() {
    let kernel = |memory: &Memory| {
        for round in 0..ROUNDS {
            let words = memory.counters;
            words.atomic_set(round, round as u32 + 1);
            thread::sync_threads();
            assert_eq!(words.atomic_get(round), round as u32 + 1);
        }
    };
    for seed in 0..SEEDS {
        let options = Options {
            seed,
            parallel_blocks: false,
            ..Options::default()
        };
        run_and_read(simt::run, &options, (1, 64), &kernel)
            .unwrap_or_else(|defect| panic!("{defect}"));
    }
}

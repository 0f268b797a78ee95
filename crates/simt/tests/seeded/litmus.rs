//! Litmus tests (Alglave, Maranget, Tautschnig, "Herding cats: modelling, simulation, testing, and
//! data mining for weak memory", TOPLAS 2014) at the scope of a warp, a block and the device. What
//! the memory model of the PTX ISA forbids is never seen, and each outcome of an order of all
//! operations is.

use crate::harness::{Memory, Words, block, found_in_some_schedules, me, run_and_read};
use cuda_std::prelude::*;
use simt::{DefectKind, Options};
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

    /// The narrowest fence that all threads of the test see.
    fn fence(self) {
        match self {
            Self::Warp | Self::Block => thread::fence_block(),
            Self::Device => thread::fence_device(),
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

/// What the threads of a test have read, over all seeds and rounds.
fn outcomes(
    test: Test,
    place: Place,
    has_fence: bool,
    parallel_blocks: bool,
    results: usize,
) -> BTreeSet<Vec<u32>> {
    let kernel = |memory: &Memory| {
        let Some(number) = place.number() else {
            return;
        };
        let fence = || {
            if has_fence {
                place.fence();
            }
        };
        for round in 0..ROUNDS {
            let words = memory.counters;
            let first = round * WORDS;
            test(&Round { words, first }, number, &fence);
        }
    };
    let mut seen = BTreeSet::new();
    for seed in 0..SEEDS {
        let options = Options {
            seed,
            parallel_blocks,
            ..Options::default()
        };
        let counters = run_and_read(simt::run, &options, place.size(), &kernel)
            .unwrap_or_else(|defect| panic!("{place:?}: {defect}"));
        let rounds = counters.chunks(WORDS).take(ROUNDS);
        seen.extend(rounds.map(|words| words[RESULTS..RESULTS + results].to_vec()));
    }
    seen
}

/// Fails unless exactly all outcomes but `forbidden` are seen, or on several host threads no other.
fn assert_all_but(forbidden: &[u32], test: Test) {
    let results = forbidden.len();
    let allowed: BTreeSet<Vec<u32>> = (0..1_u32 << results)
        .map(|bits| (0..results).map(|bit| bits >> bit & 1).collect())
        .filter(|outcome: &Vec<u32>| outcome != forbidden)
        .collect();
    for place in [Place::Warp, Place::Block, Place::Device] {
        for has_fence in [true, false] {
            let seen = outcomes(test, place, has_fence, false, results);
            assert_eq!(seen, allowed, "{place:?}, fence: {has_fence}");
            let seen = outcomes(test, place, has_fence, true, results);
            assert!(seen.is_subset(&allowed), "{place:?}, {has_fence}: {seen:?}");
        }
    }
}

#[test]
fn no_two_stores_wait_in_buffers() {
    assert_all_but(&[0, 0], store_buffering);
}

#[test]
fn a_message_is_there_with_its_flag() {
    assert_all_but(&[1, 0], message_passing);
}

#[test]
fn no_two_loads_see_later_stores() {
    assert_all_but(&[1, 1], load_buffering);
}

#[test]
fn two_readers_agree_on_the_order_of_two_writes() {
    assert_all_but(&[1, 0, 1, 0], iriw);
}

/// A message in plain memory, and fences of the writer and of the reader.
fn pass_plainly(memory: &Memory, number: usize, write: &dyn Fn(), read: &dyn Fn()) {
    match number {
        0 => {
            memory.input.set(0, 7);
            write();
            memory.counters.atomic_set(0, 1);
        }
        1 if memory.counters.atomic_get(0) == 1 => {
            read();
            memory.counters.set(1, memory.input.get(0));
        }
        _ => {}
    }
}

fn is_the_message(counters: &[u32]) -> bool {
    matches!(counters[1], 0 | 7)
}

const RACE: Option<DefectKind> = Some(DefectKind::DataRace);

#[test]
fn a_message_without_a_fence_before_its_flag() {
    let kernel = |memory: &Memory, right: bool| {
        let fence = || {
            if right {
                thread::fence_device();
            }
        };
        pass_plainly(memory, block(), &fence, &thread::fence_device);
    };
    found_in_some_schedules(RACE, (2, 1), kernel, is_the_message);
}

#[test]
fn a_message_without_a_fence_after_its_flag() {
    let kernel = |memory: &Memory, right: bool| {
        let fence = || {
            if right {
                thread::fence_device();
            }
        };
        pass_plainly(memory, block(), &thread::fence_device, &fence);
    };
    found_in_some_schedules(RACE, (2, 1), kernel, is_the_message);
}

#[test]
fn a_message_to_another_block_with_fences_for_the_block() {
    let kernel = |memory: &Memory, right: bool| {
        let fence = || match right {
            true => thread::fence_device(),
            false => thread::fence_block(),
        };
        pass_plainly(memory, block(), &fence, &fence);
    };
    found_in_some_schedules(RACE, (2, 1), kernel, is_the_message);
}

#[test]
fn a_message_within_the_block_needs_a_fence_for_the_block() {
    let kernel = |memory: &Memory, right: bool| {
        let fence = || {
            if right {
                thread::fence_block();
            }
        };
        if me().is_multiple_of(32) {
            pass_plainly(memory, me() / 32, &fence, &fence);
        }
    };
    found_in_some_schedules(RACE, (1, 64), kernel, is_the_message);
}

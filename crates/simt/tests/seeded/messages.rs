//! Messages in plain memory, whose flag is an atomic word: what lacks a fence, or has one of too narrow a scope, is a
//! race.

use crate::harness::{Memory, block, found_in_some_schedules, me, run_and_read};
use cuda_std::prelude::*;
use simt::{DefectKind, Options};
use std::sync::atomic::{AtomicBool, Ordering};

const RACE: Option<DefectKind> = Some(DefectKind::DataRace);

const SEEDS: u64 = 128;

/// An older store hands on nothing of the newest one: a reader that has read it is not after the message,
/// though the message was there.
#[test]
fn an_older_flag_is_no_acquire() {
    let is_race = |seed: u64, expected: u32| {
        let is_written = AtomicBool::new(false);
        let kernel = |memory: &Memory| match block() {
            0 => {
                memory.input.set(0, 7);
                thread::fence_device();
                memory.counters.atomic_set(0, 1);
                is_written.store(true, Ordering::Relaxed);
            }
            _ => {
                while !is_written.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
                let flag = memory.counters.atomic_get(0);
                thread::fence_device();
                if flag == expected {
                    memory.input.get(0);
                }
            }
        };
        let options = Options {
            seed,
            parallel_blocks: false,
            ..Options::default()
        };
        match run_and_read(simt::run, &options, (2, 1), &kernel) {
            Ok(_) => false,
            Err(defect) => {
                assert_eq!(Some(defect.kind), RACE, "{defect}");
                true
            }
        }
    };
    assert!((1..SEEDS).any(|seed| is_race(seed, 0)));
    assert!(!(1..SEEDS).any(|seed| is_race(seed, 1)));
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

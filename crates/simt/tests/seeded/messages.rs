//! Messages in plain memory, with an atomic word as flag: a missing fence or order, or one of too narrow a scope, is a
//! race.

use crate::harness::{Memory, block, found_in_some_schedules, me, run_and_read};
use cuda_std::atomic::{Acquire, AtomicRef, BlockScope, Relaxed, Release};
use cuda_std::prelude::*;
use simt::{DefectKind, Options};
use std::sync::atomic::{AtomicBool, Ordering};

const RACE: Option<DefectKind> = Some(DefectKind::DataRace);

/// Fixed, whatever `TILEWRIGHT_SEEDS` says: what is found under some seed must be found under one of these.
const SEEDS: u64 = 128;

/// An older store passes on nothing of the newest one: a reader of it is not after the message, although the message
/// was written.
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
        match run_and_read(crate::borrowed::run, &options, (2, 1), &kernel) {
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

/// A message in plain memory, with fences of the writer and of the reader.
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

/// A flag, for operations that have an order, with the scope of the device.
fn flag<'launch>(memory: &Memory<'launch>) -> AtomicRef<'launch, u32> {
    // SAFETY: the word is there. The tests access it by atomic operations alone.
    unsafe { memory.counters.0.atomic_ref(0) }
}

/// The same flag, with the scope of the block.
fn flag_of_block<'launch>(memory: &Memory<'launch>) -> AtomicRef<'launch, u32, BlockScope> {
    // SAFETY: the word exists. Some tests use too narrow a scope: the simulator reports it.
    unsafe { flag(memory).with_scope() }
}

/// A message in plain memory, with functions that raise and read its flag.
fn pass_by_flag(memory: &Memory, number: usize, raise: &dyn Fn(), read: &dyn Fn() -> u32) {
    match number {
        0 => {
            memory.input.set(0, 7);
            raise();
        }
        1 if read() == 1 => memory.counters.set(1, memory.input.get(0)),
        _ => {}
    }
}

#[test]
fn a_message_whose_flag_is_raised_without_a_release() {
    let kernel = |memory: &Memory, right: bool| {
        let raise = || match right {
            true => flag(memory).store(1, Release),
            false => flag(memory).store(1, Relaxed),
        };
        pass_by_flag(memory, block(), &raise, &|| flag(memory).load(Acquire));
    };
    found_in_some_schedules(RACE, (2, 1), kernel, is_the_message);
}

#[test]
fn a_message_whose_flag_is_read_without_an_acquire() {
    let kernel = |memory: &Memory, right: bool| {
        let read = || match right {
            true => flag(memory).load(Acquire),
            false => flag(memory).load(Relaxed),
        };
        pass_by_flag(memory, block(), &|| flag(memory).store(1, Release), &read);
    };
    found_in_some_schedules(RACE, (2, 1), kernel, is_the_message);
}

/// A release operation pairs with a fence of the reader, and an acquire operation with a fence of the writer.
#[test]
fn a_message_by_one_order_and_one_fence() {
    let kernel = |memory: &Memory, right: bool| {
        let fence = || {
            if right {
                thread::fence_device();
            }
        };
        let read = || {
            let value = flag(memory).load(Relaxed);
            fence();
            value
        };
        pass_by_flag(memory, block(), &|| flag(memory).store(1, Release), &read);
    };
    found_in_some_schedules(RACE, (2, 1), kernel, is_the_message);
    let kernel = |memory: &Memory, right: bool| {
        let raise = || {
            if right {
                thread::fence_device();
            }
            flag(memory).store(1, Relaxed);
        };
        pass_by_flag(memory, block(), &raise, &|| flag(memory).load(Acquire));
    };
    found_in_some_schedules(RACE, (2, 1), kernel, is_the_message);
}

/// Within a block, operations with the scope of the block suffice.
#[test]
fn a_message_within_the_block() {
    let kernel = |memory: &Memory, right: bool| {
        let raise = || match right {
            true => flag_of_block(memory).store(1, Release),
            false => flag_of_block(memory).store(1, Relaxed),
        };
        if me().is_multiple_of(32) {
            let read = || flag_of_block(memory).load(Acquire);
            pass_by_flag(memory, me() / 32, &raise, &read);
        }
    };
    found_in_some_schedules(RACE, (1, 64), kernel, is_the_message);
}

/// To another block they pass on nothing: the flag races, and so does its message.
#[test]
fn a_message_to_another_block_with_the_scope_of_the_block() {
    let kernel = |memory: &Memory, right: bool| {
        let raise = || match right {
            true => flag(memory).store(1, Release),
            false => flag_of_block(memory).store(1, Release),
        };
        pass_by_flag(memory, block(), &raise, &|| flag(memory).load(Acquire));
    };
    let race = Some(DefectKind::AtomicRace);
    found_in_some_schedules(race, (2, 1), kernel, is_the_message);
    let messages = (1..SEEDS).filter_map(|seed| {
        let options = Options {
            seed,
            parallel_blocks: false,
            ..Options::default()
        };
        let found = run_and_read(crate::borrowed::run, &options, (2, 1), &|memory| {
            kernel(memory, false)
        });
        found.err().map(|defect| defect.to_string())
    });
    let messages: Vec<String> = messages.collect();
    let has = |words: &str| messages.iter().any(|message| message.contains(words));
    assert!(
        has("their scopes are the device and the block"),
        "{messages:?}"
    );
    assert!(
        has("races with a write by a thread of another block"),
        "{messages:?}"
    );
}

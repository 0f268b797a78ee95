//! Kernels whose loads return later stores, and the effects of runs in which none does.

use crate::harness::{ELEMENTS, Memory, Run, SEEDS, Words, block, run_and_read, run_in_cluster};
use cuda_std::prelude::*;
use simt::{Defect, DefectKind, Options, Output, StaticMemory};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const X: usize = 0;
const Y: usize = 1;
const DONE: usize = 2;
const RESULT: usize = 3;
const VISITS: usize = 4;

/// More seeds, for kernels that are correct under each. Under seed 0, no block waits for one of a higher index.
const MANY_SEEDS: u64 = 256;

fn options(seed: u64) -> Options {
    Options {
        seed,
        parallel_blocks: false,
        registered_memory_only: true,
        ..Options::default()
    }
}

/// The final words of two blocks of one thread.
fn run(options: &Options, kernel: impl Fn(&Memory) + Sync) -> Result<Vec<u32>, Box<Defect>> {
    run_and_read(crate::borrowed::run, options, (2, 1), &kernel)
}

fn wait(words: Words<'_>, flag: usize) {
    while words.atomic_get(flag) == 0 {
        thread::yield_now();
    }
}

/// A reused slot: the second thread takes an item and marks the slot as free. Without the fence that the wrong kernel
/// lacks, the item may be the next one.
fn hand_over(memory: &Memory, right: bool) {
    const SLOT: usize = X;
    const FULL: usize = Y;
    const FREE: usize = DONE;
    let words = memory.counters;
    match block() {
        0 => {
            words.atomic_set(SLOT, 1);
            thread::fence_device();
            words.atomic_set(FULL, 1);
            wait(words, FREE);
            thread::fence_device();
            words.atomic_set(SLOT, 2);
        }
        _ => {
            wait(words, FULL);
            thread::fence_device();
            let item = words.atomic_get(SLOT);
            if right {
                thread::fence_device();
            }
            words.atomic_set(FREE, 1);
            words.set(RESULT, item);
        }
    }
}

#[test]
fn a_slot_that_is_free_before_it_is_read() {
    let item = |options: &Options, right| {
        let left = run(options, |memory| hand_over(memory, right));
        left.unwrap_or_else(|defect| panic!("{defect}"))[RESULT]
    };
    let wrong: Vec<u32> = (1..SEEDS).map(|seed| item(&options(seed), false)).collect();
    assert!(wrong.contains(&2), "{wrong:?}");
    let again = (1..SEEDS).map(|seed| item(&options(seed), false));
    assert!(again.eq(wrong), "a seed repeats itself");
    assert!((1..MANY_SEEDS).all(|seed| item(&options(seed), true) == 1));
    let strong = |seed| Options {
        weak_memory: false,
        ..options(seed)
    };
    assert!((1..MANY_SEEDS).all(|seed| item(&strong(seed), false) == 1));
}

/// A defect that needs a load of a later store is found, and its twin is silent.
#[test]
fn what_follows_a_later_store_is_found() {
    let kernel = |memory: &Memory, right: bool| {
        let words = memory.counters;
        match block() {
            0 => {
                let read = words.atomic_get(X);
                if right {
                    thread::fence_device();
                }
                words.atomic_set(Y, 1);
                wait(words, DONE);
                memory.input.get(read as usize * ELEMENTS);
            }
            _ => {
                wait(words, Y);
                thread::fence_device();
                words.atomic_set(X, 1);
                words.atomic_set(DONE, 1);
            }
        }
    };
    let found = |seed, right| run(&options(seed), |memory| kernel(memory, right)).err();
    let wrong: Vec<_> = (1..SEEDS).filter_map(|seed| found(seed, false)).collect();
    assert!(!wrong.is_empty());
    for defect in wrong {
        assert_eq!(defect.kind, DefectKind::OutOfBounds, "{defect}");
    }
    assert!((1..MANY_SEEDS).all(|seed| found(seed, true).is_none()));
}

global_array! {
    static COUNT: [u32; 1] = [0];
}

/// Each thread counts itself, in a buffer and in a static array. The first one prints what it has read.
fn count_and_print(words: Words<'_>) -> u32 {
    words.add(VISITS, 1);
    // SAFETY: the array has the element. All accesses are atomic.
    COUNT.with(|count| unsafe { count.atomic_add(0, 1) });
    let read = match block() {
        0 => words.atomic_get(X),
        _ => return 0,
    };
    simt::print(|| format!("read {read}"));
    words.set(RESULT, read);
    read
}

/// The effects of a launch: the buffer, the static array's count, and its output.
fn launch(by: Run, options: Options, kernel: fn(&Memory)) -> (Vec<u32>, u32, Vec<String>) {
    let options = Options {
        output: Arc::new(Output::default()),
        statics: Arc::new(StaticMemory::default()),
        ..options
    };
    let left = run_and_read(by, &options, (2, 1), &kernel);
    let left = left.unwrap_or_else(|defect| panic!("{defect}"));
    let lines = options.output.take();
    let read_count = |memory: &Memory| {
        // SAFETY: the array has the element. All accesses are atomic.
        let count = COUNT.with(|count| unsafe { count.atomic_load(0) });
        memory.counters.atomic_set(block(), count);
    };
    let options = Options { seed: 0, ..options };
    let count = run(&options, read_count).unwrap_or_else(|defect| panic!("{defect}"))[0];
    (left, count, lines)
}

/// How often the threads of the kernels below have run.
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// The store is made only if the load returns the old value, so no run can predict it.
fn depend(memory: &Memory) {
    RUNS.fetch_add(1, Ordering::Relaxed);
    let words = memory.counters;
    let read = count_and_print(words);
    match block() {
        0 if read == 0 => words.atomic_set(Y, 1),
        0 => memory.output.set(0, 1),
        _ => {
            if words.atomic_get(Y) == 1 {
                words.atomic_set(X, 1);
            }
        }
    }
}

/// The same, with a thread that waits forever if the load returns another value.
fn depend_and_wait(memory: &Memory) {
    RUNS.fetch_add(1, Ordering::Relaxed);
    let words = memory.counters;
    let read = count_and_print(words);
    match block() {
        0 if read == 0 => words.atomic_set(Y, 1),
        0 => {}
        _ => {
            wait(words, Y);
            words.atomic_set(X, 1);
        }
    }
}

#[test]
fn nothing_is_left_of_a_prediction_that_fails() {
    let kernels: [fn(&Memory); 2] = [depend, depend_and_wait];
    let ways: [Run; 3] = [
        crate::borrowed::run,
        crate::borrowed::run_cooperative,
        run_in_cluster,
    ];
    for (kernel, by) in kernels
        .into_iter()
        .flat_map(|kernel| ways.map(|by| (kernel, by)))
    {
        let before = RUNS.load(Ordering::Relaxed);
        for seed in 1..SEEDS {
            let (left, count, lines) = launch(by, options(seed), kernel);
            assert_eq!([left[VISITS], count], [2, 2], "seed {seed}");
            assert_eq!(left[RESULT], 0, "seed {seed}");
            assert_eq!(lines, ["read 0"], "seed {seed}");
        }
        let runs = RUNS.load(Ordering::Relaxed) - before;
        assert!(runs > 2 * SEEDS as usize, "there were predictions");
    }
}

/// Only one run has effects, no matter what its load has returned.
#[test]
fn a_launch_leaves_what_one_run_does() {
    let kernel = |memory: &Memory| {
        let words = memory.counters;
        count_and_print(words);
        match block() {
            0 => words.atomic_set(Y, 1),
            _ => {
                let read = words.atomic_get(Y);
                words.atomic_set(X, 1);
                words.set(DONE, read);
            }
        }
    };
    let mut later = 0;
    for seed in 1..SEEDS {
        let (left, count, lines) = launch(crate::borrowed::run, options(seed), kernel);
        assert_eq!([left[VISITS], count], [2, 2], "seed {seed}");
        assert_eq!(lines, [format!("read {}", left[RESULT])], "seed {seed}");
        later += left[RESULT] * left[DONE];
    }
    assert!(later > 0);
}

/// If the launch does not know all memory, it cannot undo a run's effects.
#[test]
fn a_launch_that_does_not_know_its_memory_runs_once() {
    for seed in 1..MANY_SEEDS {
        let options = Options {
            registered_memory_only: false,
            ..options(seed)
        };
        let threads = AtomicUsize::new(0);
        let kernel = |memory: &Memory| {
            threads.fetch_add(1, Ordering::Relaxed);
            hand_over(memory, false);
        };
        run(&options, kernel).unwrap_or_else(|defect| panic!("{defect}"));
        assert_eq!(threads.into_inner(), 2);
    }
}

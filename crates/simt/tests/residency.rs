//! Blocks that are resident together, and threads that wait for others.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

mod borrowed;
mod common;

use common::{block_x, launch_with, serial, sync, thread_x};
use simt::{AccessKind, DefectKind, Launch, Options, Preemption, Profile, Space};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// The order in which blocks start, and how often execution switches between blocks.
fn starts_and_changes(options: &Options, blocks: u32) -> (Vec<u32>, usize) {
    let passed = Mutex::new(Vec::new());
    launch_with(options, blocks, 64, || {
        for _ in 0..4 {
            passed.lock().unwrap().push(block_x());
            sync();
        }
    })
    .unwrap();
    let passed = passed.into_inner().unwrap();
    let changes = passed.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let mut seen = HashSet::new();
    let starts = passed.into_iter().filter(|block| seen.insert(*block));
    (starts.collect(), changes)
}

#[test]
fn blocks_start_in_the_order_of_their_index() {
    for seed in 0..4 {
        let (starts, _) = starts_and_changes(&serial(seed), 50);
        assert!(starts.into_iter().eq(0..50), "seed {seed}");
    }
}

#[test]
fn blocks_start_in_an_order_of_the_seeds_where_that_is_an_option() {
    for seed in 0..4 {
        let options = Options {
            blocks_in_order: false,
            ..serial(seed)
        };
        let (mut starts, _) = starts_and_changes(&options, 50);
        assert!(!starts.is_sorted(), "seed {seed}");
        starts.sort_unstable();
        assert!(starts.into_iter().eq(0..50), "seed {seed}");
    }
}

#[test]
fn blocks_interleave_under_every_seed_but_0_or_as_the_option_has_it() {
    let changes = |seed, preemption| {
        let options = Options {
            preemption,
            ..serial(seed)
        };
        starts_and_changes(&options, 50).1
    };
    assert_eq!(changes(0, Preemption::BySeed), 49);
    assert_eq!(changes(1, Preemption::Never), 49);
    assert!(changes(1, Preemption::BySeed) > 100);
    assert!(changes(0, Preemption::Always) > 100);
}

/// Waits until `word` is `value`, in a loop without a yield.
fn wait_for(word: &AtomicU32, value: u32) {
    let address = word.as_ptr().addr();
    loop {
        let kind = AccessKind::AtomicRead;
        // SAFETY: the memory is not registered.
        unsafe { simt::access(Space::Global, kind, address, 4, 0, 4, 4) };
        // SAFETY: the word is valid, and accessed by atomic updates alone.
        if unsafe { simt::atomic_update_u32(word.as_ptr(), |old| old) } == value {
            return;
        }
    }
}

fn add(word: &AtomicU32) {
    let address = word.as_ptr().addr();
    // SAFETY: the memory is not registered.
    unsafe { simt::access(Space::Global, AccessKind::Atomic, address, 4, 0, 4, 4) };
    // SAFETY: the word is valid, and accessed by atomic updates alone.
    unsafe { simt::atomic_update_u32(word.as_ptr(), |old| old + 1) };
}

/// A hand-written barrier of `blocks` blocks.
fn all_wait_for_all(options: &Options, blocks: u32, threads: u32) -> Result<(), DefectKind> {
    let arrived = AtomicU32::new(0);
    let result = launch_with(options, blocks, threads, || {
        if thread_x() == 0 {
            add(&arrived);
            wait_for(&arrived, blocks);
        }
        sync();
    });
    result.map(|_| ()).map_err(|defect| defect.kind)
}

/// An A100 holds 2 blocks of 1024 threads, and 32 of 32, on each multiprocessor.
#[test]
fn as_many_blocks_are_resident_as_the_device_holds() {
    for (threads, resident) in [(1024, 6), (512, 12), (32, 96)] {
        let options = Options {
            multiprocessors: 3,
            profile: Profile::A100,
            yield_limit: 1 << 16,
            ..serial(5)
        };
        assert_eq!(all_wait_for_all(&options, resident, threads), Ok(()));
        let deadlock = Err(DefectKind::Deadlock);
        assert_eq!(all_wait_for_all(&options, resident + 1, threads), deadlock);
    }
}

/// Static shared memory counts like dynamic: an A100 multiprocessor holds 4 blocks of 40 KiB.
#[test]
fn static_shared_memory_limits_the_resident_blocks() {
    for seed in 1..4 {
        let options = Options {
            multiprocessors: 3,
            profile: Profile::A100,
            yield_limit: 1 << 16,
            ..serial(seed)
        };
        let found = |blocks| {
            let arrived = AtomicU32::new(0);
            let result = launch_with(&options, blocks, 32, || {
                simt::static_shared(1, 40 << 10, 16);
                if thread_x() == 0 {
                    add(&arrived);
                    wait_for(&arrived, blocks);
                }
                sync();
            });
            result.map(|_| ()).map_err(|defect| defect.kind)
        };
        assert_eq!(found(12), Ok(()), "seed {seed}");
        assert_eq!(found(13), Err(DefectKind::Deadlock), "seed {seed}");
    }
}

/// With any number of host threads.
#[test]
fn no_more_blocks_are_resident_on_several_host_threads() {
    let options = |yield_limit| Options {
        multiprocessors: 3,
        profile: Profile::A100,
        yield_limit,
        parallel_blocks: true,
        ..serial(5)
    };
    // Waiting for another host thread may take long.
    assert_eq!(all_wait_for_all(&options(1 << 24), 6, 1024), Ok(()));
    let deadlock = Err(DefectKind::Deadlock);
    assert_eq!(all_wait_for_all(&options(1 << 18), 7, 1024), deadlock);
}

/// A cooperative launch ends if its blocks' static memory does not fit on the device.
#[test]
fn a_cooperative_launch_whose_static_memory_does_not_fit() {
    let options = Options {
        multiprocessors: 3,
        profile: Profile::A100,
        ..serial(1)
    };
    let launch = |blocks: u32| Launch::new("static", blocks, 32, &options);
    let body = || {
        simt::static_shared(1, 40 << 10, 16);
        simt::grid_barrier();
    };
    assert!(crate::borrowed::run_cooperative(&launch(12), &body).is_ok());
    let defect = crate::borrowed::run_cooperative(&launch(13), &body).unwrap_err();
    assert_eq!(defect.kind, DefectKind::LaunchLimit, "{defect}");
    assert!(defect.message.contains("holds 12 at once"), "{defect}");
}

#[test]
fn no_more_threads_are_resident_than_the_host_holds() {
    let options = Options {
        multiprocessors: 1000,
        yield_limit: 1 << 16,
        ..serial(1)
    };
    let most = simt::MAX_RESIDENT_THREADS / 1024;
    assert_eq!(all_wait_for_all(&options, most, 1024), Ok(()));
    let deadlock = Err(DefectKind::Deadlock);
    assert_eq!(all_wait_for_all(&options, most + 1, 1024), deadlock);
}

/// Loops of atomic loads wait for a thread of the same warp, of the same block, and of the block before.
#[test]
fn loops_of_atomic_updates_let_others_run() {
    for seed in 0..8 {
        for parallel_blocks in [false, true] {
            let options = Options {
                parallel_blocks,
                ..serial(seed)
            };
            let turn = AtomicU32::new(0);
            launch_with(&options, 3, 70, || {
                wait_for(&turn, block_x() * 70 + 69 - thread_x());
                add(&turn);
            })
            .unwrap();
            assert_eq!(turn.into_inner(), 210);
        }
    }
}

/// The first block with a defect is reported, and no thread is left behind.
#[test]
fn a_defect_ends_all_blocks() {
    for seed in 0..8 {
        for parallel_blocks in [false, true] {
            let options = Options {
                parallel_blocks,
                ..serial(seed)
            };
            let never = AtomicU32::new(0);
            let found = launch_with(&options, 40, 32, || {
                assert!(block_x() != 3, "deliberate");
                if block_x() > 3 {
                    wait_for(&never, 1);
                }
                sync();
            });
            let defect = found.unwrap_err();
            assert_eq!(defect.message, "deliberate", "{defect}");
            assert_eq!(defect.block, Some((3, 0, 0).into()), "{defect}");
        }
    }
}

#[test]
fn the_report_of_an_interleaved_launch_is_complete() {
    for parallel_blocks in [false, true] {
        let sum = AtomicU32::new(0);
        let options = Options {
            parallel_blocks,
            ..serial(9)
        };
        let report = launch_with(&options, 3000, 96, || {
            sync();
            sum.fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
        assert_eq!((report.blocks, report.barriers), (3000, 3000));
        assert_eq!(sum.into_inner(), 3000 * 96);
    }
}

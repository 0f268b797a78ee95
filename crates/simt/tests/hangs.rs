//! Launches that would run for minutes, or forever, end with a report.

mod borrowed;
mod common;

use common::child::in_child;
use common::{block_x, launch_with, serial, sync, thread_x};
use simt::{DefectKind, Options};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{available_parallelism, sleep};
use std::time::{Duration, Instant};

/// A defect of the first blocks ends the launch: the others do not start.
#[test]
fn a_defect_in_every_block_of_the_largest_grid() {
    in_child("a_defect_in_every_block_of_the_largest_grid", || {
        let drawn = |options| Options {
            blocks_in_order: false,
            ..options
        };
        let preemptive = |seed| Options {
            seed,
            ..Options::default()
        };
        for options in [
            Options::default(),
            serial(0),
            serial(1),
            preemptive(1),
            drawn(Options::default()),
            drawn(serial(0)),
            drawn(preemptive(1)),
        ] {
            let begin = Instant::now();
            let blocks = AtomicU64::new(0);
            let result = launch_with(&options, i32::MAX as u32, 1, || {
                blocks.fetch_add(1, Ordering::Relaxed);
                panic!("of purpose");
            });
            let defect = result.unwrap_err();
            assert_eq!(defect.kind, DefectKind::Panic, "{defect}");
            if options.parallel_blocks {
                assert!(defect.block.is_some_and(|block| block.x == 0), "{defect}");
            }
            let elapsed = begin.elapsed();
            assert!(elapsed < Duration::from_secs(3), "{elapsed:?} {options:?}");
            assert!(blocks.into_inner() < 1000, "{options:?}");
        }
    });
}

/// The time in which a thread waits for the host counts too: the block ends at its next instruction.
#[test]
#[cfg(target_os = "linux")]
fn a_kernel_that_sleeps() {
    in_child("a_kernel_that_sleeps", || {
        let limit = Duration::from_millis(100);
        let options = Options {
            time_limit: Some(limit),
            ..Options::default()
        };
        // In one piece, and in parts.
        for part in [10 * limit, limit / 50] {
            let result = launch_with(&options, 1, 32, || {
                let begin = Instant::now();
                while thread_x() == 0 && begin.elapsed() < 10 * limit {
                    sleep(part);
                }
                sync();
            });
            let defect = result.unwrap_err();
            assert_eq!(defect.kind, DefectKind::TimeLimit, "{defect}");
        }
    });
}

/// A block may wait for another one through the host while that one has time left.
#[test]
fn a_block_that_waits_for_one_at_work_by_the_host() {
    let name = "a_block_that_waits_for_one_at_work_by_the_host";
    in_child(name, || {
        let limit = Duration::from_millis(200);
        let options = Options {
            time_limit: Some(limit),
            ..Options::default()
        };
        let is_done = Barrier::new(2);
        if available_parallelism().is_ok_and(|threads| threads.get() == 1) {
            return;
        }
        launch_with(&options, 2, 8, || {
            if block_x() == 0 {
                // Each thread takes half of the limit and exits; then the next one starts.
                let begin = Instant::now();
                while begin.elapsed() < limit / 2 {}
            }
            if block_x() == 0 && thread_x() == 7 || block_x() == 1 && thread_x() == 0 {
                is_done.wait();
            }
        })
        .unwrap();
    });
}

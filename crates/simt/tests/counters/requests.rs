//! A warp's accesses are combined into requests.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

use crate::common::{block_x, launch_with, sync, thread_x};
use crate::harness::{View, counted, counted_with};
use simt::{Operation, Options};

#[test]
fn nothing_is_counted_unless_asked_for() {
    let report = launch_with(&Options::default(), 1, 32, || View.load(0)).expect("no defect");
    assert_eq!(report.counts, None);
}

#[test]
fn requests_of_warps() {
    let counts = counted(32, 3, 80, || View.load(block_x() * 80 + thread_x()));
    let load = counts.of(Operation::GlobalLoad);
    assert_eq!((load.requests, load.lanes), (9, 240));
    assert_eq!(load.branch_efficiency(), Some(1.0));
    assert_eq!(load.global.bytes_asked, 960);
    assert_eq!(load.global.sectors, 30);
    assert_eq!((counts.sectors_read, counts.sectors_written), (30, 0));
}

/// Common access patterns, each as a kernel: lines, sectors.
#[test]
fn efficiency_of_usual_patterns() {
    let case = |index: fn(u32) -> u32| {
        let counts = counted(32, 1, 32, || View.load(index(thread_x())));
        let load = counts.of(Operation::GlobalLoad).global;
        let efficiency = (load.line_efficiency(), load.sector_efficiency());
        (efficiency.0.unwrap(), efficiency.1.unwrap())
    };
    assert_eq!(case(|lane| lane), (1.0, 1.0));
    assert_eq!(case(|lane| lane ^ 21), (1.0, 1.0));
    assert_eq!(case(|lane| lane + 4), (0.5, 0.8));
    assert_eq!(case(|_| 7), (0.03125, 0.125));
    assert_eq!(case(|lane| lane * 64), (0.03125, 0.125));
}

#[test]
fn places_on_one_line_are_told_apart() {
    let counts = counted(32, 1, 32, || {
        let _both = [View.load(thread_x()), View.load(32 * thread_x())];
    });
    assert_eq!(counts.lines.len(), 2);
    assert_eq!(counts.lines[0].tally.global.lines, 1);
    assert_eq!(counts.lines[1].tally.global.lines, 32);
}

#[test]
fn counts_do_not_depend_on_the_schedule() {
    let count = |seed, parallel_blocks| {
        let options = Options {
            seed,
            parallel_blocks,
            ..Options::default()
        };
        counted_with(&options, 8, 96, || {
            for step in 0..thread_x() % 3 {
                View.load(step * 100 + thread_x());
                simt::yield_now();
            }
            sync();
            View.store(block_x() * 96 + thread_x());
        })
    };
    let first = count(0, false);
    for seed in 1..6 {
        assert_eq!(count(seed, seed % 2 == 0), first);
    }
}

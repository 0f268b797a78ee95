//! Block barriers: the threads that wait for each other, and counts.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

mod borrowed;
mod common;

use common::{launch, launch_with, serial, sync, thread_x};
use simt::{BarrierId, Options};
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn nobody_passes_before_all_have_arrived() {
    for threads in [1, 31, 32, 33, 100, 1024] {
        let arrived = AtomicU32::new(0);
        let report = launch(1, threads, || {
            for round in 1..=3 {
                arrived.fetch_add(1, Ordering::Relaxed);
                sync();
                assert_eq!(arrived.load(Ordering::Relaxed), round * threads);
                sync();
            }
        })
        .unwrap();
        assert_eq!(report.barriers, 6);
        assert_eq!(report.threads, u64::from(threads));
    }
}

/// At barrier 0, for all threads.
#[track_caller]
fn count(predicate: bool) -> u32 {
    simt::block_barrier_reduce(BarrierId(0), None, predicate)
}

#[test]
fn reduction_counts_true_predicates_for_every_thread() {
    let report = launch(3, 70, || {
        assert_eq!(count(thread_x().is_multiple_of(3)), 24);
        assert_eq!(count(false), 0);
        assert_eq!(count(true), 70);
        // A plain barrier in between must not disturb the counts.
        sync();
        assert_eq!(count(thread_x() == 69), 1);
        // The first two of three warps, at another barrier.
        if thread_x() < 64 {
            let is_last = thread_x() == 63;
            assert_eq!(
                simt::block_barrier_reduce(BarrierId(15), Some(64), is_last),
                1
            );
        }
    })
    .unwrap();
    assert_eq!(report.barriers, 3 * 6);
}

#[test]
fn named_barriers_join_some_of_the_warps() {
    for seed in 0..20 {
        let halves = [AtomicU32::new(0), AtomicU32::new(0)];
        launch_with(&serial(seed), 1, 128, || {
            let half = thread_x() / 64;
            let arrived = &halves[half as usize];
            for round in 1..=4 {
                arrived.fetch_add(1, Ordering::Relaxed);
                simt::block_barrier(BarrierId(1 + half), Some(64));
                assert_eq!(arrived.load(Ordering::Relaxed), round * 64);
                simt::block_barrier(BarrierId(1 + half), Some(64));
            }
        })
        .unwrap();
    }
}

#[test]
fn a_named_barrier_may_be_left_out_by_exited_warps() {
    launch(1, 96, || {
        if thread_x() >= 64 {
            return;
        }
        simt::block_barrier(BarrierId(3), Some(64));
    })
    .unwrap();
}

#[test]
fn the_lanes_that_a_partial_warp_lacks_count_as_arrived() {
    launch(1, 48, || simt::block_barrier(BarrierId(2), Some(64))).unwrap();
}

#[test]
fn blocks_of_three_dimensions_meet_too() {
    let options = Options::default();
    let launch = simt::Launch::new("cube", (2, 3, 4), (5, 4, 3), &options);
    let visits: Vec<AtomicU32> = (0..24 * 60).map(|_| AtomicU32::new(0)).collect();
    crate::borrowed::run(&launch, &|| {
        let at = simt::position();
        let thread = (at.thread_idx.z * 4 + at.thread_idx.y) * 5 + at.thread_idx.x;
        let block = (at.block_idx.z * 3 + at.block_idx.y) * 2 + at.block_idx.x;
        assert_eq!(thread, at.warp * at.warp_width + at.lane);
        assert_eq!((at.grid_dim, at.block_dim), (launch.grid, launch.block));
        sync();
        visits[(block * 60 + thread) as usize].fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    assert!(
        visits
            .iter()
            .all(|visit| visit.load(Ordering::Relaxed) == 1)
    );
}

#[test]
fn many_full_blocks() {
    let sum = AtomicU32::new(0);
    let report = launch(200, 1024, || {
        sync();
        sum.fetch_add(1, Ordering::Relaxed);
        sync();
    })
    .unwrap();
    assert_eq!(sum.into_inner(), 200 * 1024);
    assert_eq!((report.blocks, report.barriers), (200, 400));
}

//! Cooperative launches, whose blocks all run at the same time; and the lanes of a warp that run together.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

mod borrowed;
mod common;

use common::{block_x, serial, thread_x};
use simt::{Defect, DefectKind, Launch, Options, Report};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

fn cooperative(
    options: &Options,
    blocks: u32,
    threads: u32,
    body: impl Fn() + Sync,
) -> Result<Report, Box<Defect>> {
    let launch = Launch::new("test_kernel", blocks, threads, options);
    crate::borrowed::run_cooperative(&launch, &body)
}

#[test]
fn nobody_passes_before_all_blocks_have_arrived() {
    for (blocks, threads) in [(1, 1), (7, 33), (128, 32), (3, 1024)] {
        let arrived = AtomicU32::new(0);
        let report = cooperative(&Options::default(), blocks, threads, || {
            for round in 1..=3 {
                arrived.fetch_add(1, Ordering::Relaxed);
                simt::grid_barrier();
                assert_eq!(arrived.load(Ordering::Relaxed), round * blocks * threads);
                simt::grid_barrier();
            }
        })
        .unwrap();
        assert_eq!(report.blocks, u64::from(blocks));
        assert_eq!(report.threads, u64::from(blocks * threads));
    }
}

/// The first block waits for a later one, which waits for it: this needs blocks that run at the same time.
#[test]
fn blocks_may_wait_for_each_other() {
    for seed in 0..8 {
        let turn = AtomicU32::new(0);
        cooperative(&serial(seed), 4, 32, || {
            for own in [block_x(), 7 - block_x()] {
                while thread_x() == 0 && turn.load(Ordering::Relaxed) != own {
                    simt::yield_now();
                }
                common::sync();
                if thread_x() == 0 {
                    turn.fetch_add(1, Ordering::Relaxed);
                }
            }
        })
        .unwrap();
        assert_eq!(turn.into_inner(), 8);
    }
}

/// The order in which threads of several blocks pass a line.
fn order(seed: u64) -> Vec<u32> {
    let order = Mutex::new(Vec::new());
    cooperative(&serial(seed), 4, 64, || {
        for _ in 0..2 {
            if thread_x().is_multiple_of(32) {
                order.lock().unwrap().push(block_x() * 64 + thread_x());
            }
            simt::grid_barrier();
        }
    })
    .unwrap();
    order.into_inner().unwrap()
}

#[test]
fn a_seed_repeats_itself_and_seeds_differ() {
    let orders: Vec<Vec<u32>> = (0..4).map(order).collect();
    for (seed, first) in (0..4).zip(&orders) {
        assert_eq!(order(seed), *first);
    }
    assert!(orders[1..].iter().any(|other| *other != orders[0]));
}

#[test]
fn more_threads_than_can_be_resident_are_refused() {
    let most = simt::MAX_RESIDENT_THREADS;
    cooperative(&Options::default(), most / 1024, 1024, simt::grid_barrier).unwrap();
    let defect = cooperative(&Options::default(), most / 1024 + 1, 1024, || {}).unwrap_err();
    assert_eq!(defect.kind, DefectKind::LaunchLimit);
}

#[test]
fn a_panic_in_one_block_ends_all() {
    let defect = cooperative(&Options::default(), 4, 32, || {
        assert!(block_x() != 2 || thread_x() != 3, "deliberate");
        simt::grid_barrier();
    })
    .unwrap_err();
    assert_eq!(defect.kind, DefectKind::Panic);
    assert_eq!(defect.block, Some((2, 0, 0).into()));
}

#[test]
#[expect(clippy::if_same_then_else, reason = "the branches are two lines")]
fn lanes_of_one_branch_are_together() {
    let mut splits = 0;
    for seed in 0..32 {
        for warp_width in [32, 64] {
            let options = Options {
                warp_width,
                ..serial(seed)
            };
            let masks: Vec<AtomicU64> = (0..warp_width).map(|_| AtomicU64::new(0)).collect();
            common::launch_with(&options, 1, warp_width, || {
                if thread_x() == 9 {
                    return;
                }
                let lanes = if thread_x().is_multiple_of(3) {
                    simt::converged_lanes()
                } else {
                    simt::converged_lanes()
                };
                // The lanes of the mask can cooperate at once.
                simt::warp_barrier(lanes);
                masks[thread_x() as usize].store(lanes, Ordering::Relaxed);
            })
            .unwrap();
            let masks: Vec<u64> = masks.into_iter().map(AtomicU64::into_inner).collect();
            let branch = |rest: u32| -> u64 {
                let lanes = (0..warp_width).filter(|lane| (lane % 3 == 0) == (rest == 0));
                lanes.filter(|lane| *lane != 9).map(|lane| 1 << lane).sum()
            };
            for (lane, mask) in (0..warp_width).zip(&masks).filter(|(lane, _)| *lane != 9) {
                assert!(mask >> lane & 1 == 1, "lane {lane}: {mask:#x}");
                assert_eq!(mask & !branch(lane % 3), 0, "lane {lane}: {mask:#x}");
                let members = (0..warp_width).filter(|other| mask >> other & 1 == 1);
                assert!(members.clone().all(|other| masks[other as usize] == *mask));
                splits += u32::from(*mask != branch(lane % 3));
            }
        }
    }
    let lanes = 32 * (31 + 63);
    assert!(0 < splits && splits < lanes / 2, "{splits} of {lanes}");
}

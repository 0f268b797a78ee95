//! Barriers of a block.
//!
//! The seeds are fixed, whatever `TILEWRIGHT_SEEDS` says: these are tests of the simulator, not of a kernel.

use crate::common::{block_x, launch, launch_with, serial, sync, thread_x};
use crate::{assert_at, defect};
use simt::{BarrierId, DefectKind};

#[test]
fn early_return_before_a_barrier() {
    for seed in 0..10 {
        let line = line!() + 5;
        let found = defect(launch_with(&serial(seed), 1, 96, || {
            if thread_x() == 37 {
                return;
            }
            sync();
        }));
        assert_at(&found, DefectKind::BarrierDivergence, line);
        assert!(found.message.contains("exited"), "{found}");
        assert!(
            found.to_string().contains("thread (37, 0, 0): exited"),
            "{found}"
        );
    }
}

#[test]
fn a_report_reads_well() {
    let line = line!() + 5;
    let found = defect(launch_with(&serial(0), 2, 64, || {
        if block_x() == 1 && thread_x() == 37 {
            return;
        }
        sync();
        simt::warp_barrier(0xffff_ffff);
    }));
    let file = file!();
    let column = 9;
    let (first, others) = (found.thread.unwrap().x, found.related[0].note.clone());
    let report = format!(
        "kernel `test_kernel`: divergent block barrier: threads wait at barrier 0 for all threads of the block, but thread (37, 0, 0) has exited
  at {file}:{line}:{column}
  in thread ({first}, 0, 0) of block (1, 0, 0)
  - {others}, {file}:{line}:{column}
  - thread (37, 0, 0): exited
  - missing: every thread of the block at the same barrier call, including threads without work
  simulated with seed 0"
    );
    assert_eq!(found.to_string(), report);
    assert!(
        others.ends_with(" more: waits at block barrier 0"),
        "{others}"
    );
}

/// As with producer and consumer warps.
#[test]
fn a_barrier_for_some_warps_may_be_at_two_lines() {
    for seed in 0..10 {
        launch_with(&serial(seed), 1, 64, || match thread_x() {
            0..32 => simt::block_barrier(BarrierId(1), Some(64)),
            _ => simt::block_barrier(BarrierId(1), Some(64)),
        })
        .unwrap();
    }
}

#[test]
fn warps_at_different_barriers() {
    let found = defect(launch(1, 64, || {
        simt::block_barrier(BarrierId(thread_x() / 32), None);
    }));
    assert_eq!(found.kind, DefectKind::BarrierDivergence);
    assert_eq!(found.related.len(), 2, "{found}");
}

#[test]
fn one_warp_short_at_a_named_barrier() {
    let found = defect(launch(1, 96, || {
        if thread_x() < 32 {
            simt::block_barrier(BarrierId(1), Some(64));
        }
    }));
    assert_eq!(found.kind, DefectKind::BarrierDivergence);
}

#[test]
fn barrier_operands() {
    for (id, threads) in [(16, None), (0, Some(33)), (0, Some(0)), (0, Some(96))] {
        let found = defect(launch(1, 64, || {
            simt::block_barrier(BarrierId(id), threads)
        }));
        assert_eq!(found.kind, DefectKind::InvalidArgument, "{found}");
    }
    let found = defect(launch(1, 64, || {
        let all = thread_x() < 32;
        simt::block_barrier(BarrierId(0), if all { None } else { Some(32) });
    }));
    assert_eq!(found.kind, DefectKind::BarrierDivergence, "{found}");
}

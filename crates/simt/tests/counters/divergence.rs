//! The fraction of a warp's lanes that is active.

use crate::common::{sync, thread_x};
use crate::harness::{View, counted};
use simt::{Arithmetic, Counts, Operation};

/// The pairs that thread `t` adds in a step of a reduction, as loads of two
/// elements and a store.
fn reduction(pair: impl Fn(u32, u32) -> Option<(u32, u32)> + Sync, interleaved: bool) -> Counts {
    counted(32, 1, 512, move || {
        let steps = (0..9).map(|step| 1 << step);
        let strides: Vec<u32> = if interleaved {
            steps.rev().collect()
        } else {
            steps.collect()
        };
        for stride in strides {
            if let Some((left, right)) = pair(thread_x(), stride) {
                View.load(left);
                View.load(right);
                View.store(left);
            }
            sync();
        }
    })
}

/// A block of 512 in nine steps.
#[test]
fn divergence_of_a_reduction() {
    let neighboured = reduction(
        |t, stride| t.is_multiple_of(2 * stride).then_some((t, t + stride)),
        false,
    );
    let less_divergent = reduction(
        |t, stride| (2 * stride * t < 512).then_some((2 * stride * t, 2 * stride * t + stride)),
        false,
    );
    let interleaved = reduction(|t, stride| (t < stride).then_some((t, t + stride)), true);

    let store = |counts: &Counts| counts.of(Operation::GlobalStore);
    // 511 additions each. With neighbours: 16 warps in the first five steps, then 8, 4, 2, 1.
    assert_eq!(
        (store(&neighboured).lanes, store(&neighboured).requests),
        (511, 95)
    );
    // The others: 8, 4, 2 and 1 whole warps, then one warp in each of five steps.
    assert_eq!(
        (
            store(&less_divergent).lanes,
            store(&less_divergent).requests
        ),
        (511, 20)
    );
    assert_eq!(
        (store(&interleaved).lanes, store(&interleaved).requests),
        (511, 20)
    );
    assert_eq!(
        store(&neighboured).branch_efficiency(),
        Some(511.0 / (95.0 * 32.0))
    );
    assert_eq!(
        store(&interleaved).branch_efficiency(),
        Some(511.0 / (20.0 * 32.0))
    );

    // Interleaved pairs are neighbouring words, so fewer lines hold the same data.
    let lines = |counts: &Counts| counts.of(Operation::GlobalLoad).global.lines;
    assert_eq!(lines(&interleaved), 40);
    assert!(lines(&less_divergent) > lines(&interleaved));
}

/// Half of a warp of 64 lanes takes each branch.
#[test]
fn half_and_half_branch() {
    let counts = counted(64, 1, 64, || {
        if thread_x() < 32 {
            simt::count_arithmetic(Arithmetic::MulAddF32, 1);
        } else {
            simt::count_arithmetic(Arithmetic::MulAddF32, 2);
        }
        simt::count_arithmetic(Arithmetic::MulAddF32, 1);
    });
    let efficiency: Vec<_> = counts
        .lines
        .iter()
        .map(|line| line.tally.branch_efficiency())
        .collect();
    assert_eq!(efficiency, [Some(0.5), Some(0.5), Some(1.0)]);
    assert_eq!(counts.total().flops_f32, 2 * (32 + 2 * 32 + 64));
}

/// A block of 200 threads is 4 warps of 64, 64, 64 and 8 lanes.
#[test]
fn partial_warp_of_64_lanes() {
    let load = counted(64, 1, 200, || View.load(thread_x())).of(Operation::GlobalLoad);
    assert_eq!(
        (load.requests, load.lanes, load.lanes_of_warps),
        (4, 200, 200)
    );
}

#[test]
fn exited_lanes_do_not_count_after_the_next_meeting() {
    let counts = counted(32, 1, 32, || {
        if thread_x() >= 8 {
            return;
        }
        // In this turn of the warp, the other lanes exit.
        simt::yield_now();
        simt::warp_barrier(0xff);
        View.load(thread_x());
    });
    let load = counts.of(Operation::GlobalLoad);
    assert_eq!((load.lanes, load.lanes_of_warps), (8, 8));
    assert_eq!(counts.of(Operation::WarpBarrier).requests, 1);
}

//! Barriers and warp-wide operations that not all threads reach, and launch limits.

use crate::harness::{me, schedules, shared, twins};
use cuda_std::prelude::*;
use cuda_std::warp::LaneMask;
use simt::DefectKind::{BarrierDivergence, Deadlock, LaunchLimit, WarpDivergence};
use simt::{Dim3, Launch, Options, Profile};

#[test]
fn a_barrier_in_a_branch() {
    twins(BarrierDivergence, 2, 64, |_, right| {
        if right || me() < 40 {
            thread::sync_threads();
        }
    });
}

/// A barrier of the block is one line: lanes of a warp that meet at two do not meet on a GPU.
#[test]
fn barriers_in_two_branches() {
    twins(BarrierDivergence, 1, 32, |_, right| match me() {
        0..7 if !right => thread::sync_threads(),
        _ => thread::sync_threads(),
    });
}

/// The same if a whole warp takes each branch.
#[test]
fn barriers_of_two_warps() {
    let found = twins(BarrierDivergence, 2, 64, |_, right| match me() {
        0..32 if !right => thread::sync_threads(),
        _ => thread::sync_threads(),
    });
    assert!(found.message.contains("different lines"), "{found}");
}

/// A block of an A100 can have 163 KiB of shared memory, static and dynamic together.
#[test]
fn static_and_dynamic_shared_memory_above_the_limit() {
    for options in schedules() {
        let options = Options {
            profile: Profile::A100,
            ..options
        };
        let run = |dynamic_kib: usize| {
            let launch = Launch {
                kernel: "limits",
                grid: 2.into(),
                block: 64.into(),
                cluster: Dim3::from(1),
                thread_registers: None,
                dynamic_shared_bytes: dynamic_kib << 10,
                options: &options,
            };
            let body = || shared!(u32; 10 << 10).set(me(), 1);
            crate::borrowed::run(&launch, &body)
                .map_err(|found| found.kind)
                .err()
        };
        assert_eq!((run(123), run(124)), (None, Some(LaunchLimit)));
    }
}

#[test]
fn a_mask_that_names_a_lane_that_has_left() {
    twins(WarpDivergence, 1, 32, |_, right| {
        if me() == 31 {
            return;
        }
        let mask = if right {
            LaneMask::first(31)
        } else {
            LaneMask::all()
        };
        let _ = warp::ballot(mask, true);
    });
}

#[test]
fn a_vote_in_one_branch_of_two() {
    twins(WarpDivergence, 1, 32, |_, right| {
        let mask = match (right, me() < 16) {
            (false, _) => LaneMask::all(),
            (true, true) => LaneMask::first(16),
            (true, false) => LaneMask::from_bits(0xffff_0000),
        };
        if me() < 16 {
            let _ = warp::any(mask, true);
        } else {
            warp::sync(mask);
        }
    });
}

#[test]
fn a_shuffle_that_reads_a_lane_outside_its_mask() {
    twins(WarpDivergence, 1, 32, |_, right| {
        if me() < 8 {
            let source = if right { 7 } else { 8 };
            let _ = warp::shuffle(LaneMask::first(8), 1_u32, source);
        }
    });
}

#[test]
fn a_mask_without_the_calling_lane() {
    twins(WarpDivergence, 1, 32, |_, right| {
        warp::sync(if right {
            LaneMask::all()
        } else {
            LaneMask::first(31)
        });
    });
}

#[test]
fn a_lane_that_waits_for_the_block_and_lanes_that_wait_for_it() {
    twins(Deadlock, 1, 32, |_, right| {
        if !right && me() == 3 {
            thread::sync_threads();
        }
        warp::sync(LaneMask::all());
        thread::sync_threads();
    });
}

#[test]
fn launches_above_the_limits() {
    let options = Options::default();
    let kind = |grid: u32, block: Dim3, dynamic_shared_bytes: usize| {
        let launch = Launch {
            kernel: "limits",
            grid: grid.into(),
            block,
            cluster: simt::Dim3::from(1),
            thread_registers: None,
            dynamic_shared_bytes,
            options: &options,
        };
        let result = crate::borrowed::under_seeds(0..2, &launch, &|| {});
        result.map_err(|found| found.kind)
    };
    assert_eq!(kind(1, 1024.into(), simt::MAX_SHARED_BYTES), Ok(()));
    assert_eq!(kind(1, 1025.into(), 0), Err(LaunchLimit));
    assert_eq!(
        kind(1, 32.into(), simt::MAX_SHARED_BYTES + 1),
        Err(LaunchLimit)
    );
    assert_eq!(kind(0, 32.into(), 0), Err(LaunchLimit));
    assert_eq!(kind(1 << 31, 32.into(), 0), Err(LaunchLimit));
}

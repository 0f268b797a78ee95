//! Barriers and warp-wide operations that not all threads reach.

use crate::harness::{me, twins};
use cuda_std::prelude::*;
use cuda_std::warp::LaneMask;
use simt::DefectKind::{BarrierDivergence, Deadlock, WarpDivergence};

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
    let found = twins(BarrierDivergence, 1, 32, |_, right| match me() {
        0..7 if !right => thread::sync_threads(),
        _ => thread::sync_threads(),
    });
    assert!(found.message.contains("different lines"), "{found}");
}

/// The same if a whole warp takes each branch.
#[test]
fn barriers_of_two_warps() {
    let found = twins(BarrierDivergence, 2, 64, |_, right| match me() {
        0..32 if !right => thread::sync_threads(),
        _ => thread::sync_threads(),
    });
    assert!(
        found
            .message
            .starts_with("warps of the block are at different lines of barrier 0"),
        "{found}"
    );
    let other = found.related[0].location.as_ref().expect("a line");
    assert_ne!(found.location.as_ref(), Some(other), "{found}");
}

#[test]
fn a_mask_that_names_a_lane_that_has_left() {
    let found = twins(WarpDivergence, 1, 32, |_, right| {
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
    // Seeds differ in whether the lane or the vote comes first, and so does the message.
    for part in ["lane 31", "has exited"] {
        assert!(found.message.contains(part), "{found}");
    }
    assert!(found.location.is_some(), "{found}");
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
    let found = twins(Deadlock, 1, 32, |_, right| {
        if !right && me() == 3 {
            thread::sync_threads();
        }
        warp::sync(LaneMask::all());
        thread::sync_threads();
    });
    assert_eq!(found.related.len(), 2, "{found}");
}

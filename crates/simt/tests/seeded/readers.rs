//! A write must come after every reader.

use crate::harness::{me, shared, twins};
use cuda_std::prelude::*;
use simt::DefectKind::DataRace;

/// Warps 0, 1 and 3 meet. Warp 2 reads like them, and meets no other.
#[test]
fn the_third_warp_that_reads() {
    twins(DataRace, 1, 128, |_, right| {
        let value = shared![u32; 1];
        if me() == 0 {
            value.set(0, 1);
        }
        thread::sync_threads();
        let warp = me() / 32;
        if warp < 3 && me().is_multiple_of(32) {
            let _ = value.get(0);
        }
        if right {
            thread::sync_threads();
        } else if warp != 2 {
            thread::named_barrier_sync(1, 96);
        }
        if me() == 96 {
            value.set(0, 2);
        }
    });
}

/// The same in global memory.
#[test]
fn the_third_warp_that_reads_global_memory() {
    twins(DataRace, 1, 128, |memory, right| {
        let warp = me() / 32;
        if warp < 3 && me().is_multiple_of(32) {
            let _ = memory.input.get(5);
        }
        if right {
            thread::sync_threads();
        } else if warp != 2 {
            thread::named_barrier_sync(1, 96);
        }
        if me() == 96 {
            memory.input.set(5, 2);
        }
    });
}

/// Three blocks read. The block that starts last waits for two of them, and writes.
#[test]
fn the_third_block_that_reads() {
    twins(DataRace, 4, 1, |memory, right| {
        let signals = if right { 3 } else { 2 };
        let order = memory.counters.add(1, 1);
        if order < 3 {
            let _ = memory.input.get(0);
            if order < signals {
                thread::fence_device();
                memory.counters.add(0, 1);
            }
        } else {
            while memory.counters.atomic_get(0) < signals {
                thread::yield_now();
            }
            thread::fence_device();
            memory.input.set(0, 2);
        }
    });
}

/// The lanes of a warp meet in halves. One lane of the other half has read.
#[test]
fn a_lane_outside_of_the_mask() {
    twins(DataRace, 1, 32, |memory, right| {
        if me() < 17 - usize::from(right) {
            let _ = memory.input.get(0);
        }
        let half = warp::LaneMask::from_bits(0xffff << (me() / 16 * 16));
        warp::sync(half);
        if me() == 3 {
            memory.input.set(0, 2);
        }
    });
}

/// The barrier joins two warps of three, and the third one also writes.
#[test]
fn a_write_beside_a_barrier_of_other_warps() {
    twins(DataRace, 1, 96, |_, right| {
        let value = shared![u32; 1];
        if me() == 0 {
            value.set(0, 0);
        }
        thread::sync_threads();
        match me() {
            0 => value.set(0, 1),
            64 if !right => value.set(0, 2),
            _ => {}
        }
        if me() < 64 {
            thread::named_barrier_sync(1, 64);
            if me() == 32 {
                let _ = value.get(0);
            }
        }
    });
}

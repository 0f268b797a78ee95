//! Two defects of published reductions, with correct versions as twins.

use crate::harness::{ELEMENTS, Memory, Words, block, me, twins};
use cuda_std::prelude::*;
use simt::DefectKind::{BarrierDivergence, DataRace};

/// `data[at] += data[at + distance]`
#[track_caller]
fn add_from(data: Words, at: usize, distance: usize) {
    data.set(at, data.get(at) + data.get(at + distance));
}

/// `reduceUnrollWarps8`: the last warp adds without a barrier, on the assumption that its lanes run in lockstep. Its
/// twin waits for the lanes that still add, between the read and the write of each step.
fn reduce_unroll_warps_8(memory: &Memory, right: bool) {
    let threads = thread::block_dim_x() as usize;
    let first = block() * threads * 8;
    let index = first + me();
    let input = memory.input;
    if index + 7 * threads < ELEMENTS {
        let sum = (0..8).map(|i| input.get(index + i * threads)).sum();
        input.set(index, sum);
    }
    thread::sync_threads();
    let mut stride = threads / 2;
    while stride > 32 {
        if me() < stride {
            add_from(input, index, stride);
        }
        thread::sync_threads();
        stride >>= 1;
    }
    if me() < 32 {
        for distance in [32, 16, 8, 4, 2, 1] {
            if right {
                add_in_lockstep(input, index, distance);
            } else {
                add_from(input, index, distance);
            }
        }
    }
    if me() == 0 {
        memory.output.set(block(), input.get(first));
    }
}

/// The assumption of the original: all lanes read, then all lanes write.
#[track_caller]
fn add_in_lockstep(data: Words, at: usize, distance: usize) {
    let sum = data.get(at) + data.get(at + distance);
    warp::sync(warp::LaneMask::all());
    data.set(at, sum);
    warp::sync(warp::LaneMask::all());
}

#[test]
fn last_warp_unrolled_without_warp_barriers() {
    let found = twins(DataRace, 2, 64, reduce_unroll_warps_8);
    assert!(found.to_string().contains("a warp barrier"), "{found}");
}

/// `reduceNeighbored`: threads past the end return before the barriers. Its
/// twin keeps them for the barriers.
fn reduce_neighboured(memory: &Memory, right: bool) {
    // Not a multiple of the block, or no thread returns.
    const N: usize = 100;
    let threads = thread::block_dim_x() as usize;
    let first = block() * threads;
    let index = first + me();
    if !right && index >= N {
        return;
    }
    let mut stride = 1;
    while stride < threads {
        if me().is_multiple_of(2 * stride) && (!right || index + stride < N) {
            add_from(memory.input, index, stride);
        }
        thread::sync_threads();
        stride *= 2;
    }
    if me() == 0 {
        memory.output.set(block(), memory.input.get(first));
    }
}

#[test]
fn early_return_before_a_barrier() {
    let found = twins(BarrierDivergence, 2, 64, reduce_neighboured);
    assert!(found.message.contains("exited"), "{found}");
}

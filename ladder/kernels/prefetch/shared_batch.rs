//! Batches in shared memory ("smem batch"): like [`scalar_batch`](super::scalar_batch), but values
//! wait in shared memory, which can be indexed.
//!
//! It costs a store and a load for each element, and shared memory: the distance times 8 bytes for
//! each thread. Predicted: a little slower than registers, and slower still if slots of
//! neighbouring threads share banks.
//!
//! A thread reads only its own writes, so the slots need no barrier.

use super::by_distance::kernels_by_distance;
use super::slots::OwnSlots;
use super::work::{Elements, Rounds};
use cuda_std::hint;
use cuda_std::prelude::*;

/// Adds `f` of the thread's elements. `rounds` times the launch's threads are at least `x.len()`,
/// and `sums` has an element for each thread.
///
/// # Safety
/// 1. `x` is not empty.
/// 2. The launch has one dimension. Its dynamic shared memory holds the [`Slots`](super::Slots) for
///    this distance, which have these pitches.
#[inline(always)]
unsafe fn run<const DISTANCE: usize, const SYNCED: bool>(
    (rounds, generations): (u32, u32),
    (thread_pitch, slot_pitch): (u32, u32),
    x: Global<f64>,
    sums: GlobalMut<f64>,
) {
    let own = thread::unique_index();
    // SAFETY: `x` is not empty: the caller's contract.
    let mut elements = unsafe { Elements::of(&own, x) };
    let mut thread_rounds = Rounds::<SYNCED>::of(own, elements, rounds, generations);
    let memory = dynamic_shared![f64];
    let slots = OwnSlots::of_thread(memory, thread_pitch, slot_pitch);
    let own_lanes = lanes_of_own_warp();
    let mut round = 0;
    while round < rounds {
        let mut batch = [0.0; DISTANCE];
        for element in &mut batch {
            *element = elements.load();
        }
        // Keeps all loads before the first store, which waits for its value. To save registers, the
        // compiler would interleave them.
        warp::sync(own_lanes);
        for (slot, element) in batch.iter().enumerate() {
            // SAFETY: the launch gave the block memory for the slot: the caller's contract.
            unsafe { slots.set(slot as u32, *element) };
        }
        // Not unrolled: the point of shared memory is that it can be indexed.
        for slot in 0..hint::opaque(DISTANCE as u32) {
            // SAFETY: the launch gave the block memory for the slot: the caller's contract. The
            // whole batch was stored above.
            thread_rounds.round(unsafe { slots.get(slot) });
        }
        round += DISTANCE as u32;
    }
    thread_rounds.finish(sums);
}

/// The lanes of the calling thread's warp that exist in the block.
#[inline(always)]
fn lanes_of_own_warp() -> LaneMask {
    let before = warp::warp_in_block() * warp::width();
    LaneMask::first((thread::block_dim_x() - before).min(warp::width()))
}

kernels_by_distance! {
    run::<distance + 0>(rounds: u32, generations: u32, thread_pitch: u32, slot_pitch: u32, x: Global<f64>, sums: GlobalMut<f64>),
    ((rounds, generations), (thread_pitch, slot_pitch), x, sums),
    ("1. `x` is not empty.\n2. The launch has one dimension; its dynamic shared memory holds the slots that [`Slots`](super::Slots) names for this distance, and the pitches are its."),
    with_shared_batch: SharedParams, "Each thread's sum over its elements, loaded in batches into shared memory.";
    1: prefetch_shared_batch_1, prefetch_shared_batch_1_synced;
    2: prefetch_shared_batch_2, prefetch_shared_batch_2_synced;
    3: prefetch_shared_batch_3, prefetch_shared_batch_3_synced;
    4: prefetch_shared_batch_4, prefetch_shared_batch_4_synced;
    5: prefetch_shared_batch_5, prefetch_shared_batch_5_synced;
    6: prefetch_shared_batch_6, prefetch_shared_batch_6_synced;
    7: prefetch_shared_batch_7, prefetch_shared_batch_7_synced;
    8: prefetch_shared_batch_8, prefetch_shared_batch_8_synced;
    9: prefetch_shared_batch_9, prefetch_shared_batch_9_synced;
    10: prefetch_shared_batch_10, prefetch_shared_batch_10_synced;
    11: prefetch_shared_batch_11, prefetch_shared_batch_11_synced;
    12: prefetch_shared_batch_12, prefetch_shared_batch_12_synced;
    13: prefetch_shared_batch_13, prefetch_shared_batch_13_synced;
    14: prefetch_shared_batch_14, prefetch_shared_batch_14_synced;
    15: prefetch_shared_batch_15, prefetch_shared_batch_15_synced;
    16: prefetch_shared_batch_16, prefetch_shared_batch_16_synced;
}

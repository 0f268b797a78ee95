//! Rolling through shared memory by asynchronous copies ("smem rolling async"): the copy goes from
//! global to shared memory without registers (`cp.async`). Only its own wait, `DISTANCE` rounds
//! later, waits for it; a barrier in the loop does not.
//!
//! ```text
//! for k in 0..DISTANCE: copy(slot k, element of round k); commit
//! for each round:
//!     wait until at most DISTANCE - 1 groups are pending
//!     element = slot
//!     copy(slot, element DISTANCE rounds ahead); commit
//!     compute, barrier
//! ```
//!
//! Predicted: like [`scalar_rolling`](super::scalar_rolling), without its registers and with one
//! load from shared memory per round.
//!
//! A thread reads only its own copies, so they need no barrier, and a slot is refilled as soon as
//! it was read: the whole ring is in flight.
//!
//! Departure from the article: copies continue past the end, so that every round has one to wait
//! for.

use super::by_distance::kernels_by_distance;
use super::slots::OwnSlots;
use super::work::{Elements, Rounds};
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
    let mut pipeline = Pipeline::<DISTANCE>::new();
    let mut start = |pipeline: &mut Pipeline<DISTANCE>, slot: usize| {
        let (to, from) = (slots.position(slot as u32), elements.next_index());
        // SAFETY: the slot is in the block's memory, and the element is in `x`: the caller's
        // contract. f64 are aligned to 8 bytes. Only this thread accesses its slots, and it has
        // read this one.
        unsafe { pipeline.copy::<f64, 1>(slots.memory(), to, x, from) };
        pipeline.commit();
    };
    for slot in 0..DISTANCE {
        start(&mut pipeline, slot);
    }
    for _ in 0..rounds {
        let slot = pipeline.consumer_wait_full();
        // SAFETY: the launch gave the block memory for the slot: the caller's contract. The slot's copy has landed.
        let element = unsafe { slots.get(slot as u32) };
        start(&mut pipeline, slot);
        thread_rounds.round(element);
    }
    pipeline.wait_prior::<0>();
    thread_rounds.finish(sums);
}

kernels_by_distance! {
    run::<distance + 0>(rounds: u32, generations: u32, thread_pitch: u32, slot_pitch: u32, x: Global<f64>, sums: GlobalMut<f64>),
    ((rounds, generations), (thread_pitch, slot_pitch), x, sums),
    ("1. `x` is not empty.\n2. The launch has one dimension; its dynamic shared memory holds the slots that [`Slots`](super::Slots) names for this distance, and the pitches are its."),
    with_shared_rolling_async: SharedParams, "Each thread's sum over its elements, copied to shared memory some rounds ahead.";
    1: prefetch_shared_rolling_async_1, prefetch_shared_rolling_async_1_synced;
    2: prefetch_shared_rolling_async_2, prefetch_shared_rolling_async_2_synced;
    3: prefetch_shared_rolling_async_3, prefetch_shared_rolling_async_3_synced;
    4: prefetch_shared_rolling_async_4, prefetch_shared_rolling_async_4_synced;
    5: prefetch_shared_rolling_async_5, prefetch_shared_rolling_async_5_synced;
    6: prefetch_shared_rolling_async_6, prefetch_shared_rolling_async_6_synced;
    7: prefetch_shared_rolling_async_7, prefetch_shared_rolling_async_7_synced;
    8: prefetch_shared_rolling_async_8, prefetch_shared_rolling_async_8_synced;
    9: prefetch_shared_rolling_async_9, prefetch_shared_rolling_async_9_synced;
    10: prefetch_shared_rolling_async_10, prefetch_shared_rolling_async_10_synced;
    11: prefetch_shared_rolling_async_11, prefetch_shared_rolling_async_11_synced;
    12: prefetch_shared_rolling_async_12, prefetch_shared_rolling_async_12_synced;
    13: prefetch_shared_rolling_async_13, prefetch_shared_rolling_async_13_synced;
    14: prefetch_shared_rolling_async_14, prefetch_shared_rolling_async_14_synced;
    15: prefetch_shared_rolling_async_15, prefetch_shared_rolling_async_15_synced;
    16: prefetch_shared_rolling_async_16, prefetch_shared_rolling_async_16_synced;
}

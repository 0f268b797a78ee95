//! Rolling through registers ("scalar rolling"): before a thread uses an element, it starts to load
//! the one that it needs some rounds later, into the register that became free.
//!
//! Predicted: no round waits for memory once the distance covers the latency. Measured: this fails.
//! A warp has six scoreboards, counters of outstanding loads, and the compiler assigns all loads of
//! the loop to one of them. So the first use after the loop's start waits for the load started just
//! before it, and one round in `RING` waits for a full latency. Rolling at a distance is therefore
//! as good as batches of one more.
//!
//! As in the batches, the rounds are unrolled, so that each has a named register: moving values
//! between registers would wait for the loads in flight.
//!
//! Departure from the article: there is one register more than the distance. With only as many as
//! the distance, the compiler loads into an extra register, because the arithmetic still needs the
//! old value, and moves the loaded values at the end of the loop, where all loads have to be
//! complete.

use super::by_distance::kernels_by_distance;
use super::work::{Elements, Rounds};
use cuda_std::prelude::*;

/// Adds `f` of the thread's elements. `rounds` times the launch's threads are at least `x.len()`,
/// and `sums` has an element for each thread.
///
/// # Safety
/// 1. `x` is not empty.
#[inline(always)]
unsafe fn run<const RING: usize, const SYNCED: bool>(
    rounds: u32,
    generations: u32,
    x: Global<f64>,
    sums: GlobalMut<f64>,
) {
    let own = thread::unique_index();
    // SAFETY: `x` is not empty: the caller's contract.
    let mut elements = unsafe { Elements::of(&own, x) };
    let mut thread_rounds = Rounds::<SYNCED>::of(own, elements, rounds, generations);
    let mut ring = [0.0; RING];
    for element in &mut ring[..RING - 1] {
        *element = elements.load();
    }
    let mut round = 0;
    while round < rounds {
        for now in 0..RING {
            // Into the register that the previous round has used.
            ring[(now + RING - 1) % RING] = elements.load();
            thread_rounds.round(ring[now]);
        }
        round += RING as u32;
    }
    thread_rounds.finish(sums);
}

kernels_by_distance! {
    run::<distance + 1>(rounds: u32, generations: u32, x: Global<f64>, sums: GlobalMut<f64>),
    (rounds, generations, x, sums),
    ("1. `x` is not empty."),
    with_scalar_rolling: ScalarParams, "Each thread's sum over its elements, loaded into registers some rounds ahead.";
    1: prefetch_scalar_rolling_1, prefetch_scalar_rolling_1_synced;
    2: prefetch_scalar_rolling_2, prefetch_scalar_rolling_2_synced;
    3: prefetch_scalar_rolling_3, prefetch_scalar_rolling_3_synced;
    4: prefetch_scalar_rolling_4, prefetch_scalar_rolling_4_synced;
    5: prefetch_scalar_rolling_5, prefetch_scalar_rolling_5_synced;
    6: prefetch_scalar_rolling_6, prefetch_scalar_rolling_6_synced;
    7: prefetch_scalar_rolling_7, prefetch_scalar_rolling_7_synced;
    8: prefetch_scalar_rolling_8, prefetch_scalar_rolling_8_synced;
    9: prefetch_scalar_rolling_9, prefetch_scalar_rolling_9_synced;
    10: prefetch_scalar_rolling_10, prefetch_scalar_rolling_10_synced;
    11: prefetch_scalar_rolling_11, prefetch_scalar_rolling_11_synced;
    12: prefetch_scalar_rolling_12, prefetch_scalar_rolling_12_synced;
    13: prefetch_scalar_rolling_13, prefetch_scalar_rolling_13_synced;
    14: prefetch_scalar_rolling_14, prefetch_scalar_rolling_14_synced;
    15: prefetch_scalar_rolling_15, prefetch_scalar_rolling_15_synced;
    16: prefetch_scalar_rolling_16, prefetch_scalar_rolling_16_synced;
}

//! Rolling through registers ("scalar rolling"): before a thread uses an element it starts
//! the load of the one that it needs some rounds later, into the register that became free.
//!
//! Predicted: no round waits for memory once the distance covers the latency. It does not come to
//! that. A warp has six scoreboards to wait with, each a counter of what is still missing, and the
//! compiler gives all loads of the loop the same one. So the first use after the loop's start
//! waits for the load that was started just before it, and one round in `RING` waits for a whole
//! latency: rolling at a distance is as good as batches of one more.
//!
//! As in the batches, the rounds are written out, so that each has its register by name: moving the
//! values along would wait for the loads that are on their way.
//!
//! Departure from the article: the registers are one more than the distance. With as many, the
//! compiler loads into yet another one, because the arithmetic still needs the value, and moves
//! the loaded values back at the end of the loop: there all the loads have to be complete.

use super::by_distance::kernels_by_distance;
use super::work::{Elements, Rounds};
use cuda_std::prelude::*;

/// Adds what becomes of the thread's elements. `rounds` times the launch's threads are at least
/// `x.len()`, and `sums` has an element for each thread.
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
    // SAFETY: (1) is (1).
    let mut elements = unsafe { Elements::of(&own, x) };
    let mut thread_rounds = Rounds::<SYNCED>::of(own, elements, rounds, generations);
    let mut ring = [0.0; RING];
    for element in &mut ring[..RING - 1] {
        *element = elements.load();
    }
    let mut round = 0;
    while round < rounds {
        for now in 0..RING {
            // Into the register that the round before has used up.
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

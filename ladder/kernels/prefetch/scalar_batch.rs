//! Batches in registers ("scalar batch"): every `DISTANCE` rounds a thread loads the elements of
//! the next `DISTANCE` rounds at once.
//!
//! The loads of a batch overlap, so a batch waits for memory once. Predicted time of a round: the
//! chain of arithmetic plus 1 / `DISTANCE` of the latency.
//!
//! Departure from the article, which selects the value with a `switch`: the rounds of a batch are
//! unrolled, so that each has a named register. The last batch may exceed the remaining elements.

use super::by_distance::kernels_by_distance;
use super::work::{Elements, Rounds};
use cuda_std::prelude::*;

/// Adds `f` of the thread's elements. `rounds` times the launch's threads are at least `x.len()`,
/// and `sums` has an element for each thread.
///
/// # Safety
/// 1. `x` is not empty.
#[inline(always)]
unsafe fn run<const DISTANCE: usize, const SYNCED: bool>(
    rounds: u32,
    generations: u32,
    x: Global<f64>,
    sums: GlobalMut<f64>,
) {
    let own = thread::unique_index();
    // SAFETY: `x` is not empty: the caller's contract.
    let mut elements = unsafe { Elements::of(&own, x) };
    let mut thread_rounds = Rounds::<SYNCED>::of(own, elements, rounds, generations);
    let mut round = 0;
    while round < rounds {
        let mut batch = [0.0; DISTANCE];
        for element in &mut batch {
            *element = elements.load();
        }
        for element in &batch {
            thread_rounds.round(*element);
        }
        round += DISTANCE as u32;
    }
    thread_rounds.finish(sums);
}

kernels_by_distance! {
    run::<distance + 0>(rounds: u32, generations: u32, x: Global<f64>, sums: GlobalMut<f64>),
    (rounds, generations, x, sums),
    ("1. `x` is not empty."),
    with_scalar_batch: ScalarParams, "Each thread's sum over its elements, loaded in batches into registers.";
    1: prefetch_scalar_batch_1, prefetch_scalar_batch_1_synced;
    2: prefetch_scalar_batch_2, prefetch_scalar_batch_2_synced;
    3: prefetch_scalar_batch_3, prefetch_scalar_batch_3_synced;
    4: prefetch_scalar_batch_4, prefetch_scalar_batch_4_synced;
    5: prefetch_scalar_batch_5, prefetch_scalar_batch_5_synced;
    6: prefetch_scalar_batch_6, prefetch_scalar_batch_6_synced;
    7: prefetch_scalar_batch_7, prefetch_scalar_batch_7_synced;
    8: prefetch_scalar_batch_8, prefetch_scalar_batch_8_synced;
    9: prefetch_scalar_batch_9, prefetch_scalar_batch_9_synced;
    10: prefetch_scalar_batch_10, prefetch_scalar_batch_10_synced;
    11: prefetch_scalar_batch_11, prefetch_scalar_batch_11_synced;
    12: prefetch_scalar_batch_12, prefetch_scalar_batch_12_synced;
    13: prefetch_scalar_batch_13, prefetch_scalar_batch_13_synced;
    14: prefetch_scalar_batch_14, prefetch_scalar_batch_14_synced;
    15: prefetch_scalar_batch_15, prefetch_scalar_batch_15_synced;
    16: prefetch_scalar_batch_16, prefetch_scalar_batch_16_synced;
}

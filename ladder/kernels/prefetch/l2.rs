//! Prefetch to L2 (`prefetch.global.L2`): an instruction without a result requests the line that
//! the thread will load some rounds later.
//!
//! It takes no register and no shared memory, so the distance costs nothing and is a parameter.
//! Each round still waits for the latency of L2, about a third of DRAM's. Predicted: a gain from
//! distance 1, but always less than variants that fetch the value closer.

use super::work::{Elements, Rounds};
use cuda_std::prelude::*;

/// Adds `f` of the thread's elements. `rounds` times the launch's threads are at least `x.len()`,
/// and `sums` has an element for each thread.
///
/// # Safety
/// 1. `x` is not empty.
#[inline(always)]
unsafe fn run<const SYNCED: bool>(
    (distance, rounds, generations): (u32, u32, u32),
    x: Global<f64>,
    sums: GlobalMut<f64>,
) {
    let own = thread::unique_index();
    // SAFETY: `x` is not empty: the caller's contract.
    let mut elements = unsafe { Elements::of(&own, x) };
    let mut thread_rounds = Rounds::<SYNCED>::of(own, elements, rounds, generations);
    let mut ahead = elements;
    for _ in 0..distance {
        x.prefetch_l2(ahead.next_index());
    }
    for _ in 0..rounds {
        x.prefetch_l2(ahead.next_index());
        thread_rounds.round(elements.load());
    }
    thread_rounds.finish(sums);
}

/// Each thread's sum over its elements, each prefetched `distance` rounds before it is loaded.
/// `rounds` times the launch's threads are at least `x.len()`, and `sums` has an element for each
/// thread.
///
/// # Safety
/// 1. `x` is not empty.
#[kernel(max_threads = 256)]
pub unsafe fn prefetch_l2(
    distance: u32,
    rounds: u32,
    generations: u32,
    x: Global<f64>,
    sums: GlobalMut<f64>,
) {
    // SAFETY: `x` is not empty: the caller's contract.
    unsafe { run::<false>((distance, rounds, generations), x, sums) }
}

/// [`prefetch_l2`] with a barrier in each round.
///
/// # Safety
/// 1. `x` is not empty.
#[kernel(max_threads = 256)]
pub unsafe fn prefetch_l2_synced(
    distance: u32,
    rounds: u32,
    generations: u32,
    x: Global<f64>,
    sums: GlobalMut<f64>,
) {
    // SAFETY: `x` is not empty: the caller's contract.
    unsafe { run::<true>((distance, rounds, generations), x, sums) }
}

//! Without prefetch: each round loads its element and waits for it.
//!
//! Predicted time of a round: the latency of DRAM plus the chain of arithmetic, as long as there
//! are too few warps to hide one warp's wait behind the others' work.

use super::work::{Elements, Rounds};
use cuda_std::prelude::*;

/// Adds `f` of the thread's elements. `rounds` times the launch's threads are at least `x.len()`,
/// and `sums` has an element for each thread.
///
/// # Safety
/// 1. `x` is not empty.
#[inline(always)]
unsafe fn run<const SYNCED: bool>(
    (rounds, generations): (u32, u32),
    x: Global<f64>,
    sums: GlobalMut<f64>,
) {
    let own = thread::unique_index();
    // SAFETY: `x` is not empty: the caller's contract.
    let mut elements = unsafe { Elements::of(&own, x) };
    let mut thread_rounds = Rounds::<SYNCED>::of(own, elements, rounds, generations);
    for _ in 0..rounds {
        thread_rounds.round(elements.load());
    }
    thread_rounds.finish(sums);
}

/// Each thread's sum over its elements. `rounds` times the launch's threads are at least
/// `x.len()`, and `sums` has an element for each thread.
///
/// # Safety
/// 1. `x` is not empty.
#[kernel(max_threads = 256)]
pub unsafe fn prefetch_none(rounds: u32, generations: u32, x: Global<f64>, sums: GlobalMut<f64>) {
    // SAFETY: `x` is not empty: the caller's contract.
    unsafe { run::<false>((rounds, generations), x, sums) }
}

/// [`prefetch_none`] with a barrier in each round.
///
/// # Safety
/// 1. `x` is not empty.
#[kernel(max_threads = 256)]
pub unsafe fn prefetch_none_synced(
    rounds: u32,
    generations: u32,
    x: Global<f64>,
    sums: GlobalMut<f64>,
) {
    // SAFETY: `x` is not empty: the caller's contract.
    unsafe { run::<true>((rounds, generations), x, sums) }
}

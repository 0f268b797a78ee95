//! Rolling through shared memory by loads and stores ("smem rolling"): like
//! [`scalar_rolling`](super::scalar_rolling), but values wait in shared memory.
//!
//! A value can only be stored once its load has completed. So the store waits for the load in the
//! round that started it, not `distance` rounds later. At best the round's arithmetic is between
//! the two. Predicted: as good as distance 1, at any distance.
//!
//! Departure from the article: the store follows the arithmetic. In the article it follows the
//! load, and the compiler may or may not move it.
//!
//! The distance costs only shared memory, so it is a parameter.

use super::slots::{OwnSlots, next_slot};
use super::work::{Elements, Rounds};
use cuda_std::prelude::*;

/// Adds `f` of the thread's elements. `rounds` times the launch's threads are at least `x.len()`,
/// and `sums` has an element for each thread.
///
/// # Safety
/// 1. `x` is not empty, and `distance` is not 0.
/// 2. The launch has one dimension. Its dynamic shared memory holds the [`Slots`](super::Slots) for
///    this distance, which have these pitches.
#[inline(always)]
unsafe fn run<const SYNCED: bool>(
    (distance, rounds, generations): (u32, u32, u32),
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
    for slot in 0..distance {
        // SAFETY: the launch gave the block memory for the slot: the caller's contract.
        unsafe { slots.set(slot, elements.load()) };
    }
    let mut slot = 0;
    for _ in 0..rounds {
        // SAFETY: there is a slot, and the launch gave the block memory for it: the caller's
        // contract. It was filled `distance` rounds ago.
        let element = unsafe { slots.get(slot) };
        let later = elements.load();
        thread_rounds.round(element);
        // SAFETY: the launch gave the block memory for the slot: the caller's contract.
        unsafe { slots.set(slot, later) };
        slot = next_slot(slot, distance);
    }
    thread_rounds.finish(sums);
}

/// Each thread's sum over its elements, stored to shared memory `distance` rounds ahead.
///
/// # Safety
/// 1. `x` is not empty, and `distance` is not 0.
/// 2. The launch has one dimension. Its dynamic shared memory holds the [`Slots`](super::Slots) for
///    this distance, which have these pitches.
#[kernel(max_threads = 256)]
pub unsafe fn prefetch_shared_rolling(
    distance: u32,
    rounds: u32,
    generations: u32,
    thread_pitch: u32,
    slot_pitch: u32,
    x: Global<f64>,
    sums: GlobalMut<f64>,
) {
    // SAFETY: the caller's contract.
    unsafe {
        run::<false>(
            (distance, rounds, generations),
            (thread_pitch, slot_pitch),
            x,
            sums,
        )
    }
}

/// [`prefetch_shared_rolling`] with a barrier in each round.
///
/// # Safety
/// 1. `x` is not empty, and `distance` is not 0.
/// 2. The launch has one dimension. Its dynamic shared memory holds the [`Slots`](super::Slots) for
///    this distance, which have these pitches.
#[kernel(max_threads = 256)]
pub unsafe fn prefetch_shared_rolling_synced(
    distance: u32,
    rounds: u32,
    generations: u32,
    thread_pitch: u32,
    slot_pitch: u32,
    x: Global<f64>,
    sums: GlobalMut<f64>,
) {
    // SAFETY: the caller's contract.
    unsafe {
        run::<true>(
            (distance, rounds, generations),
            (thread_pitch, slot_pitch),
            x,
            sums,
        )
    }
}

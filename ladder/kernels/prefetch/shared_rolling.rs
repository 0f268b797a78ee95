//! Rolling through shared memory by loads and stores ("smem rolling"): as
//! [`scalar_rolling`](super::scalar_rolling), but the values wait in shared memory.
//!
//! A load leaves its value in a register, and only then can it be stored. So the store waits for
//! the load in the round that started it, and not `distance` rounds later. At best the round's
//! arithmetic lies between the two: predicted as good as distance 1, whatever the distance.
//!
//! Departure from the article: the store follows the arithmetic. Where it follows the load, as in
//! the article, the compiler may move it there or not.
//!
//! The distance costs nothing but room, so it is a parameter.

use super::slots::{OwnSlots, next_slot};
use super::work::{Elements, Rounds};
use cuda_std::prelude::*;

/// Adds what becomes of the thread's elements. `rounds` times the launch's threads are at least
/// `x.len()`, and `sums` has an element for each thread.
///
/// # Safety
/// 1. `x` is not empty.
/// 2. The launch has one dimension; its dynamic shared memory holds the slots that
///    [`Slots`](super::Slots) names for this distance, and the pitches are its.
#[inline(always)]
unsafe fn run<const SYNCED: bool>(
    (distance, rounds, generations): (u32, u32, u32),
    (thread_pitch, slot_pitch): (u32, u32),
    x: Global<f64>,
    sums: GlobalMut<f64>,
) {
    let own = thread::unique_index();
    // SAFETY: (1) is (1).
    let mut elements = unsafe { Elements::of(&own, x) };
    let mut thread_rounds = Rounds::<SYNCED>::of(own, elements, rounds, generations);
    let memory = dynamic_shared![f64];
    let slots = OwnSlots::of_thread(memory, thread_pitch, slot_pitch);
    for slot in 0..distance {
        // SAFETY: (1) is (2).
        unsafe { slots.set(slot, elements.load()) };
    }
    let mut slot = 0;
    for _ in 0..rounds {
        // SAFETY: (1) is (2). (2) The slot was filled `distance` rounds ago.
        let element = unsafe { slots.get(slot) };
        let later = elements.load();
        thread_rounds.round(element);
        // SAFETY: (1) is (2).
        unsafe { slots.set(slot, later) };
        slot = next_slot(slot, distance);
    }
    thread_rounds.finish(sums);
}

/// Each thread's sum over its elements, stored to shared memory `distance` rounds ahead.
///
/// # Safety
/// 1. `x` is not empty.
/// 2. The launch has one dimension; its dynamic shared memory holds the slots that
///    [`Slots`](super::Slots) names for this distance, and the pitches are its.
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
    // SAFETY: (1) and (2) are (1) and (2).
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
/// 1. `x` is not empty.
/// 2. The launch has one dimension; its dynamic shared memory holds the slots that
///    [`Slots`](super::Slots) names for this distance, and the pitches are its.
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
    // SAFETY: (1) and (2) are (1) and (2).
    unsafe {
        run::<true>(
            (distance, rounds, generations),
            (thread_pitch, slot_pitch),
            x,
            sums,
        )
    }
}

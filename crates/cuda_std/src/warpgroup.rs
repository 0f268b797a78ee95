//! Warpgroups: four consecutive warps, starting at a multiple of four.
//!
//! A warpgroup executes a product of [`wgmma`](crate::wgmma), and registers are reallocated between
//! warpgroups: if one warpgroup copies while others multiply, it can release registers for their
//! accumulators.

use crate::{machine, thread};

/// The number of threads in a warpgroup.
pub const THREADS: u32 = 128;

/// The rank of the caller's warpgroup in the block.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn index() -> u32 {
    thread::rank_in_block() / THREADS
}

/// The calling thread's rank in its warpgroup.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn thread_rank() -> u32 {
    thread::rank_in_block() % THREADS
}

/// Releases registers until each thread of the warpgroup has `COUNT`, a multiple of 8 from 24 to 256.
///
/// The launch bounds determine the initial number: `#[kernel(max_threads = 384, min_blocks = 1)]` gives each thread
/// 65536 / 384 registers, rounded down to a multiple of 8.
///
/// # Safety
/// 1. All threads of the warpgroup make the call together, converged.
/// 2. The kernel states its bounds, which fix the initial number, and each thread of the warpgroup has at least
///    `COUNT` registers.
/// 3. Between two calls, of this function or [`increase_registers`], the threads of the warpgroup pass a
///    barrier.
#[inline(always)]
#[track_caller]
pub unsafe fn decrease_registers<const COUNT: u32>() {
    const { assert_count(COUNT) };
    // SAFETY: the caller's contract.
    unsafe { machine::decrease_registers::<COUNT>() };
}

/// Waits until each thread of the warpgroup can have `COUNT` registers, a multiple of 8 from 24 to 256.
///
/// It returns once other warpgroups have released enough.
///
/// # Safety
/// 1. All threads of the warpgroup make the call together, converged.
/// 2. The kernel states its bounds, which fix the initial number, and each thread of the warpgroup has at most
///    `COUNT` registers.
/// 3. Between two calls, of this function or [`decrease_registers`], the threads of the warpgroup pass a
///    barrier.
#[inline(always)]
#[track_caller]
pub unsafe fn increase_registers<const COUNT: u32>() {
    const { assert_count(COUNT) };
    // SAFETY: the caller's contract.
    unsafe { machine::increase_registers::<COUNT>() };
}

/// Rejects numbers of registers that `setmaxnreg` does not have, at compile time (PTX ISA).
const fn assert_count(count: u32) {
    assert!(
        count >= 24 && count <= 256 && count.is_multiple_of(8),
        "a thread can be given 24 to 256 registers, a multiple of 8"
    );
}

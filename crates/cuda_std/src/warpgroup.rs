//! Warpgroups: four warps in a row, the first of which has a number that is a multiple of four.
//!
//! They are what a product of [`wgmma`](crate::wgmma) is distributed over, and what
//! registers are dealt out to: where one warpgroup copies and the others multiply, the first gives
//! registers back for the accumulators of the others.

use crate::{machine, thread};

/// Threads in a warpgroup.
pub const THREADS: u32 = 128;

/// The number of the caller's warpgroup in the block.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn index() -> u32 {
    thread::rank_in_block() / THREADS
}

/// The number of the calling thread in its warpgroup.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn thread_rank() -> u32 {
    thread::rank_in_block() % THREADS
}

/// Gives registers back until each thread of the warpgroup has `COUNT`, a multiple of 8 from 24 to 256.
///
/// The kernel states how many it starts with: `#[kernel(max_threads = 384, min_blocks = 1)]` is
/// 65536 / 384 registers for each thread, less what does not divide by 8.
///
/// # Safety
/// 1. All threads of the warpgroup make the call together: none has branched away.
/// 2. The kernel states its bounds, so that the number it starts with is fixed, and each thread of the
///    warpgroup has at least `COUNT` registers.
/// 3. Between two calls, of this function or [`increase_registers`], the threads of the warpgroup pass a
///    barrier.
#[inline(always)]
#[track_caller]
pub unsafe fn decrease_registers<const COUNT: u32>() {
    const { assert_count(COUNT) };
    // SAFETY: (1) to (3) are the caller's.
    unsafe { machine::decrease_registers::<COUNT>() };
}

/// Waits until each thread of the warpgroup can have `COUNT` registers, a multiple of 8 from 24 to 256.
///
/// It ends when other warpgroups have given enough of them back.
///
/// # Safety
/// 1. All threads of the warpgroup make the call together: none has branched away.
/// 2. The kernel states its bounds, so that the number it starts with is fixed, and each thread of the
///    warpgroup has at most `COUNT` registers.
/// 3. Between two calls, of this function or [`decrease_registers`], the threads of the warpgroup pass a
///    barrier.
#[inline(always)]
#[track_caller]
pub unsafe fn increase_registers<const COUNT: u32>() {
    const { assert_count(COUNT) };
    // SAFETY: (1) to (3) are the caller's.
    unsafe { machine::increase_registers::<COUNT>() };
}

/// Rejects, when compiled, a number of registers that no instruction has (PTX ISA, `setmaxnreg`).
const fn assert_count(count: u32) {
    assert!(
        count >= 24 && count <= 256 && count.is_multiple_of(8),
        "a thread can be given 24 to 256 registers, a multiple of 8"
    );
}

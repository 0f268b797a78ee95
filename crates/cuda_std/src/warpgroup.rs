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
/// 65536 / 384 registers for each thread, less what does not divide by 8. All threads of the warpgroup
/// call it.
#[inline(always)]
#[track_caller]
pub fn decrease_registers<const COUNT: u32>() {
    const { assert_count(COUNT) };
    machine::decrease_registers::<COUNT>();
}

/// Waits until each thread of the warpgroup can have `COUNT` registers, a multiple of 8 from 24 to 256.
///
/// It ends when other warpgroups have given enough of them back. All threads of the warpgroup call it.
#[inline(always)]
#[track_caller]
pub fn increase_registers<const COUNT: u32>() {
    const { assert_count(COUNT) };
    machine::increase_registers::<COUNT>();
}

/// Rejects, when compiled, a number of registers that no instruction has (PTX ISA, `setmaxnreg`).
const fn assert_count(count: u32) {
    assert!(
        count >= 24 && count <= 256 && count.is_multiple_of(8),
        "a thread can be given 24 to 256 registers, a multiple of 8"
    );
}

//! Grids whose blocks wait for each other.

use crate::put;
use cuda_std::cooperative_groups::{Collective, GridGroup, Group, this_grid, this_thread_block};
use cuda_std::prelude::*;

/// Sums `x` in two phases: each block sums its part into `partials`, then each thread sums the
/// partials. Then, `rounds` times, each element of `x` becomes the sum of itself and the next.
///
/// # Safety
/// 1. `x` and `sums` have an element for each thread, `partials` has one for each block.
#[kernel(cooperative, max_threads = 128, min_blocks = 4)]
pub unsafe fn sum_and_step(
    grid: GridGroup,
    rounds: u32,
    x: GlobalMut<u32>,
    partials: GlobalMut<u32>,
    sums: GlobalMut<u32>,
) {
    let (own, next) = (grid.thread_rank(), (grid.thread_rank() + 1) % grid.size());
    let block = this_thread_block();
    // SAFETY: the lengths are the caller's contract. Here and below, the grid's barrier separates
    // each write from the accesses of other threads.
    let value = unsafe { x.load(own) };
    let of_block = block.reduce(value, u32::wrapping_add);
    if block.thread_rank() == 0 {
        // SAFETY: as above.
        unsafe { partials.store(grid.block_rank(), of_block) };
    }
    grid.sync();
    let mut sum = 0_u32;
    for of_block in 0..grid.num_blocks() {
        // SAFETY: as above.
        sum = sum.wrapping_add(unsafe { partials.load(of_block) });
    }
    for _ in 0..rounds {
        // SAFETY: as above.
        let next = unsafe { x.load(own).wrapping_add(x.load(next)) };
        grid.sync();
        // SAFETY: as above.
        unsafe { x.store(own, next) };
        grid.sync();
    }
    // SAFETY: as above.
    unsafe { put(sums, own, sum * u32::from(grid.is_valid())) };
}

/// Describes the grid of an ordinary launch: validity, size, rank, blocks, the block's rank.
///
/// # Safety
/// 1. `out` has 5 elements for each thread.
#[kernel]
pub unsafe fn ordinary_grid(out: GlobalMut<u64>) {
    let grid = this_grid();
    let numbers = [
        u64::from(grid.is_valid()),
        grid.size() as u64,
        grid.thread_rank() as u64,
        grid.num_blocks() as u64,
        grid.block_rank() as u64,
    ];
    for (i, number) in numbers.iter().enumerate() {
        // SAFETY: the elements belong to this thread's unique index.
        unsafe { put(out, thread::unique_index().get() * 5 + i, *number) };
    }
}

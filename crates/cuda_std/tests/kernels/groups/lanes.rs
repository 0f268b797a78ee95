//! Threads of tiles, and coalesced threads.

use super::{IDENTITY, compose};
use crate::put;
use cuda_std::cooperative_groups::{
    Collective, Group, coalesced_threads, this_thread_block, tiled_partition,
};
use cuda_std::prelude::*;

/// Numbers that [`exchanges`] writes for each thread.
pub const EXCHANGES: usize = 9;

/// Exchanges of `x` in tiles of 16 threads, by `rank` (below the size of the smallest tile) and
/// `delta`.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` [`EXCHANGES`].
#[kernel]
pub unsafe fn exchanges(rank: u32, delta: u32, x: Global<u32>, out: GlobalMut<u64>) {
    let tile = tiled_partition::<16>(&this_thread_block());
    let own = thread::unique_index().get();
    // SAFETY: the length is the caller's contract.
    let value = unsafe { x.load(own) };
    let (rank, delta) = (rank as usize, delta as usize);
    let numbers = [
        u64::from(tile.shuffle(value, rank)),
        u64::from(tile.shuffle_down(value, delta)),
        u64::from(tile.shuffle_up(value, delta)),
        u64::from(tile.shuffle_xor(value, delta)),
        tile.ballot(value.is_multiple_of(3)),
        u64::from(tile.any(value.is_multiple_of(3))),
        u64::from(tile.all(value.is_multiple_of(3))),
        tile.match_any(value % 3),
        u64::from(tile.match_all(value % 3)),
    ];
    for (i, number) in numbers.iter().enumerate() {
        // SAFETY: the elements belong to this thread's unique index.
        unsafe { put(out, own * EXCHANGES + i, *number) };
    }
}

/// Each thread gets its right neighbour's word in its tile of 8 through shared memory, ordered by
/// the tile's barrier.
///
/// # Safety
/// 1. Blocks have at most 1024 threads; `out` has an element for each.
#[kernel]
pub unsafe fn tile_exchange(out: GlobalMut<u32>) {
    let array = shared_array![u32; 1024];
    let tile = tiled_partition::<8>(&this_thread_block());
    let own = thread::rank_in_block() as usize;
    let neighbour = own - tile.thread_rank() + (tile.thread_rank() + 1) % tile.size();
    // SAFETY: a block has at most 1024 threads: the caller's contract. The tile's barrier separates
    // the write from the read.
    unsafe { array.store(own, own as u32 * 3) };
    tile.sync();
    // SAFETY: as above.
    let value = unsafe { array.load(neighbour) };
    // SAFETY: the element belongs to this thread's unique index.
    unsafe { put(out, thread::unique_index().get(), value) };
}

/// Numbers that [`coalesced`] writes for each thread.
pub const COALESCED: usize = 9;

/// Each thread takes one of three branches by its `x`, or returns. In each branch, the coalesced
/// threads write their lanes, size and rank, and of their `x` the sum, the inclusive and the
/// exclusive scan by composition, the value of the last rank, whether all are equal, and the number
/// with the same quotient by 3.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` [`COALESCED`].
#[kernel]
pub unsafe fn coalesced(x: Global<u32>, out: GlobalMut<u64>) {
    let own = thread::unique_index().get();
    // SAFETY: the length is the caller's contract.
    let value = unsafe { x.load(own) };
    match value % 4 {
        // SAFETY: the callee's contract is this function's.
        0 => unsafe { describe_coalesced(own, value, out) },
        // SAFETY: as above.
        1 => unsafe { describe_coalesced(own, value, out) },
        // SAFETY: as above.
        2 => unsafe { describe_coalesced(own, value, out) },
        _ => {}
    }
}

/// # Safety
/// 1. `out` has [`COALESCED`] elements for thread `own`, the calling one.
#[inline(always)]
#[track_caller]
unsafe fn describe_coalesced(own: usize, value: u32, out: GlobalMut<u64>) {
    let group = coalesced_threads();
    let numbers = [
        group.lanes().bits(),
        group.size() as u64,
        group.thread_rank() as u64,
        u64::from(group.reduce(value, u32::wrapping_add)),
        u64::from(group.inclusive_scan(value, compose)),
        u64::from(group.exclusive_scan(value, IDENTITY, compose)),
        u64::from(group.shuffle(value, group.size() - 1)),
        u64::from(group.all(value == group.shuffle(value, 0))),
        group.labeled_partition(value / 3).size() as u64,
    ];
    group.sync();
    for (i, number) in numbers.iter().enumerate() {
        // SAFETY: the elements belong to this thread: the caller's contract.
        unsafe { put(out, own * COALESCED + i, *number) };
    }
}

/// Counts the `x` below `limit`. Coalesced threads share one atomic addition, and each writes the
/// place that it gets.
///
/// # Safety
/// 1. `x` and `places` have an element for each thread, `count` has one.
#[kernel]
pub unsafe fn count_together(
    limit: u32,
    x: Global<u32>,
    count: GlobalMut<u32>,
    places: GlobalMut<u32>,
) {
    let own = thread::unique_index().get();
    // SAFETY: the length is the caller's contract.
    if unsafe { x.load(own) } >= limit {
        return;
    }
    let group = coalesced_threads();
    let mut first = 0;
    if group.thread_rank() == 0 {
        // SAFETY: the length is the caller's contract. Only atomic additions access the element.
        first = unsafe { count.atomic_add(0, group.size() as u32) };
    }
    let place = group.shuffle(first, 0) + group.thread_rank() as u32;
    // SAFETY: the element belongs to this thread's unique index.
    unsafe { put(places, own, place) };
}

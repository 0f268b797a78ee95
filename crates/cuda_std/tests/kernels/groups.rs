//! Cooperative groups: blocks, tiles, coalesced threads, grids; their collectives and copies.

mod copies;
mod grids;
mod lanes;

pub use copies::*;
pub use grids::*;
pub use lanes::*;

use crate::put;
use cuda_std::cooperative_groups::{
    Collective, Partition, TiledPartition, this_thread_block, tiled_partition,
};
use cuda_std::prelude::*;

/// Composes two maps `x -> a x + b` modulo 2^16, `first` before `then`. The lower half of a word
/// holds `a`, the upper half `b`. The operation is associative and almost never commutative.
#[inline(always)]
#[must_use]
pub fn compose(first: u32, then: u32) -> u32 {
    let (a, b) = (first & 0xFFFF, first >> 16);
    let (c, d) = (then & 0xFFFF, then >> 16);
    let factor = a.wrapping_mul(c) & 0xFFFF;
    let summand = b.wrapping_mul(c).wrapping_add(d);
    factor | summand << 16
}

/// The map `x -> x`.
pub const IDENTITY: u32 = 1;

/// Numbers that the kernels of this file write for each thread.
pub const NUMBERS: usize = 8;

/// Writes the validity and size of the calling thread's group and its rank, and of the threads'
/// `value`s the sum, the inclusive and the exclusive scan by composition.
///
/// # Safety
/// 1. `out` has [`NUMBERS`] elements for each thread.
#[inline(always)]
unsafe fn describe<G: Collective>(group: &G, value: u32, out: GlobalMut<u32>) -> usize {
    let first = thread::unique_index().get() * NUMBERS;
    let mut numbers = [
        u32::from(group.is_valid()),
        group.size() as u32,
        group.thread_rank() as u32,
        0,
        0,
        0,
    ];
    if group.is_valid() {
        numbers[3] = group.reduce(value, u32::wrapping_add);
        numbers[4] = group.inclusive_scan(value, compose);
        numbers[5] = group.exclusive_scan(value, IDENTITY, compose);
    }
    for (i, number) in numbers.iter().enumerate() {
        // SAFETY: the elements belong to this thread's unique index.
        unsafe { put(out, first + i, *number) };
    }
    first + numbers.len()
}

/// Describes the tile of `SIZE` threads, with its place in its parent.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` [`NUMBERS`].
#[inline(always)]
unsafe fn describe_tile<const SIZE: usize>(
    parent: &impl Partition,
    x: Global<u32>,
    out: GlobalMut<u32>,
) -> TiledPartition<SIZE> {
    let tile = tiled_partition::<SIZE>(parent);
    // SAFETY: the length is the caller's contract.
    let value = unsafe { x.load(thread::unique_index().get()) };
    // SAFETY: the lengths are the caller's contract, and the last two elements belong to this
    // thread, too.
    unsafe {
        let next = describe(&tile, value, out);
        put(out, next, tile.meta_group_rank() as u32);
        put(out, next + 1, tile.meta_group_size() as u32);
    }
    tile
}

macro_rules! tile_kernels {
    ($($name:ident: $size:literal;)*) => {$(
        #[doc = concat!("What each block's tiles of ", $size, " threads are.")]
        ///
        /// # Safety
        /// 1. `x` has an element for each thread, `out` [`NUMBERS`].
        #[kernel]
        pub unsafe fn $name(x: Global<u32>, out: GlobalMut<u32>) {
            // SAFETY: the callee's contract is this function's.
            unsafe { describe_tile::<$size>(&this_thread_block(), x, out) };
        }
    )*};
}
tile_kernels! {
    tiles_of_2: 2;
    tiles_of_4: 4;
    tiles_of_8: 8;
    tiles_of_16: 16;
    tiles_of_32: 32;
    tiles_of_64: 64;
}

/// Describes tiles of 4 threads, within tiles of 16 and of 64 threads.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` [`NUMBERS`].
#[kernel]
pub unsafe fn tiles_of_tiles(x: Global<u32>, out: GlobalMut<u32>) {
    let of_64 = tiled_partition::<64>(&this_thread_block());
    let of_16 = tiled_partition::<16>(&of_64);
    // SAFETY: the callee's contract is this function's.
    unsafe { describe_tile::<4>(&of_16, x, out) };
}

/// Describes the block, with the number of its threads, its unique indices in `places`, and the sum
/// over the threads of the block's sum.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` [`NUMBERS`], `places` 9.
#[kernel]
pub unsafe fn whole_blocks(x: Global<u32>, out: GlobalMut<u32>, places: GlobalMut<u32>) {
    let block = this_thread_block();
    let own = thread::unique_index().get();
    // SAFETY: the length is the caller's contract.
    let value = unsafe { x.load(own) };
    // SAFETY: the callee's contract is this function's.
    let next = unsafe { describe(&block, value, out) };
    let sum = block.reduce(value, u32::wrapping_add);
    let sum_of_sums = block.reduce(sum, u32::wrapping_add);
    let largest = block.reduce(value, u32::max);
    // SAFETY: the elements belong to this thread's unique index.
    unsafe {
        put(out, next, sum_of_sums);
        put(out, next + 1, largest);
    }
    let of_three = [
        block.group_index(),
        block.thread_index(),
        block.dim_threads(),
    ];
    for (i, (x, y, z)) in of_three.iter().enumerate() {
        for (j, number) in [x, y, z].iter().enumerate() {
            // SAFETY: as above.
            unsafe { put(places, own * 9 + i * 3 + j, **number) };
        }
    }
}

/// The sums and the exclusive scans of tiles of 8 threads and of the block.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` 4.
#[kernel]
pub unsafe fn sums_f64(x: Global<f64>, out: GlobalMut<f64>) {
    let block = this_thread_block();
    let tile = tiled_partition::<8>(&block);
    let own = thread::unique_index().get();
    // SAFETY: the length is the caller's contract.
    let value = unsafe { x.load(own) };
    let add = |a, b| a + b;
    let sums = [
        tile.reduce(value, add),
        tile.exclusive_scan(value, 0.0, add),
        block.reduce(value, add),
        block.exclusive_scan(value, 0.0, add),
    ];
    for (i, sum) in sums.iter().enumerate() {
        // SAFETY: the elements belong to this thread's unique index.
        unsafe { put(out, own * 4 + i, *sum) };
    }
}

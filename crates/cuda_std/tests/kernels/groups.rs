//! Cooperative groups: blocks, tiles, lanes that are together, grids; their collectives and copies.

use crate::put;
use cuda_std::cooperative_groups::{
    Collective, GridGroup, Group, Partition, TiledPartition, coalesced_threads, memcpy_async,
    this_grid, this_thread_block, tiled_partition, wait,
};
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Composes the maps `x -> a x + b` whose `a` is in the lower half of a word and `b` in the upper
/// one, modulo 2^16, `first` first: associative, and hardly ever commutative.
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

/// Writes what the calling thread's group is: validity, size and rank; and of the threads' `value`s
/// the sum, the composition up to the thread and that before it.
///
/// # Safety
/// 1. `out` has [`NUMBERS`] elements for each thread.
#[inline(always)]
unsafe fn describe<G: Collective>(group: &G, value: u32, out: GlobalMut<u32>) -> usize {
    let first = thread::own_index().get() * NUMBERS;
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
        // SAFETY: (1) the elements belong to this thread's own index.
        unsafe { put(out, first + i, *number) };
    }
    first + numbers.len()
}

/// What the tile of `SIZE` threads is, with its place in its parent.
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
    // SAFETY: (1) is (1).
    let value = unsafe { x.load(thread::own_index().get()) };
    // SAFETY: (1) is (1), and the two last elements are this thread's own, too.
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
            // SAFETY: (1) is (1).
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

/// What the tiles of 4 threads of the tiles of 16 threads of the tiles of 64 threads are.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` [`NUMBERS`].
#[kernel]
pub unsafe fn tiles_of_tiles(x: Global<u32>, out: GlobalMut<u32>) {
    let of_64 = tiled_partition::<64>(&this_thread_block());
    let of_16 = tiled_partition::<16>(&of_64);
    // SAFETY: (1) is (1).
    unsafe { describe_tile::<4>(&of_16, x, out) };
}

/// What the block is, with the number of its threads, its own indices in `places`, and the sum
/// of the sums of all its threads.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` [`NUMBERS`], `places` 9.
#[kernel]
pub unsafe fn whole_blocks(x: Global<u32>, out: GlobalMut<u32>, places: GlobalMut<u32>) {
    let block = this_thread_block();
    let own = thread::own_index().get();
    // SAFETY: (1) is (1).
    let value = unsafe { x.load(own) };
    // SAFETY: (1) is (1).
    let next = unsafe { describe(&block, value, out) };
    let sum = block.reduce(value, u32::wrapping_add);
    let sum_of_sums = block.reduce(sum, u32::wrapping_add);
    let largest = block.reduce(value, u32::max);
    // SAFETY: (1) the elements belong to this thread's own index.
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

/// The sums of tiles of 8 and of the block, and those before the thread.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` 4.
#[kernel]
pub unsafe fn sums_f64(x: Global<f64>, out: GlobalMut<f64>) {
    let block = this_thread_block();
    let tile = tiled_partition::<8>(&block);
    let own = thread::own_index().get();
    // SAFETY: (1) is (1).
    let value = unsafe { x.load(own) };
    let add = |a, b| a + b;
    let sums = [
        tile.reduce(value, add),
        tile.exclusive_scan(value, 0.0, add),
        block.reduce(value, add),
        block.exclusive_scan(value, 0.0, add),
    ];
    for (i, sum) in sums.iter().enumerate() {
        // SAFETY: (1) the elements belong to this thread's own index.
        unsafe { put(out, own * 4 + i, *sum) };
    }
}

/// Numbers that [`exchanges`] writes for each thread.
pub const EXCHANGES: usize = 9;

/// What the threads of tiles of 16 exchange of `x`, by `rank` (below the size of the smallest
/// tile) and `delta`.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` [`EXCHANGES`].
#[kernel]
pub unsafe fn exchanges(rank: u32, delta: u32, x: Global<u32>, out: GlobalMut<u64>) {
    let tile = tiled_partition::<16>(&this_thread_block());
    let own = thread::own_index().get();
    // SAFETY: (1) is (1).
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
        // SAFETY: (1) the elements belong to this thread's own index.
        unsafe { put(out, own * EXCHANGES + i, *number) };
    }
}

/// Each thread gets its right neighbour's word in its tile of 8, through shared memory: a tile's
/// barrier orders it.
///
/// # Safety
/// 1. Blocks have at most 1024 threads; `out` has an element for each.
#[kernel]
pub unsafe fn tile_exchange(out: GlobalMut<u32>) {
    let array = shared_array![u32; 1024];
    let tile = tiled_partition::<8>(&this_thread_block());
    let own = thread::rank_in_block() as usize;
    let neighbour = own - tile.thread_rank() + (tile.thread_rank() + 1) % tile.size();
    // SAFETY: (1) is (1). (2) The tile's barrier stands between.
    unsafe { array.store(own, own as u32 * 3) };
    tile.sync();
    // SAFETY: as above.
    let value = unsafe { array.load(neighbour) };
    // SAFETY: (1) the element belongs to this thread's own index.
    unsafe { put(out, thread::own_index().get(), value) };
}

/// Numbers that [`coalesced`] writes for each thread.
pub const COALESCED: usize = 9;

/// Sends each thread into one of three branches by its `x`, or home; in each branch the threads
/// that are together write their lanes, size and rank, and of their `x` the sum, the composition up
/// to the thread, that before it, that of the last rank, whether all are equal, and the number of
/// those whose quotient by 3 is the same.
///
/// # Safety
/// 1. `x` has an element for each thread, `out` [`COALESCED`].
#[kernel]
pub unsafe fn coalesced(x: Global<u32>, out: GlobalMut<u64>) {
    let own = thread::own_index().get();
    // SAFETY: (1) is (1).
    let value = unsafe { x.load(own) };
    match value % 4 {
        // SAFETY: (1) is (1).
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
        // SAFETY: (1) is (1).
        unsafe { put(out, own * COALESCED + i, *number) };
    }
}

/// Counts the `x` below `limit`: the threads that are together add theirs with one atomic addition,
/// and each writes the place that it has got.
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
    let own = thread::own_index().get();
    // SAFETY: (1) is (1).
    if unsafe { x.load(own) } >= limit {
        return;
    }
    let group = coalesced_threads();
    let mut first = 0;
    if group.thread_rank() == 0 {
        // SAFETY: (1) is (1). (2) Nothing else touches the element.
        first = unsafe { count.atomic_add(0, group.size() as u32) };
    }
    let place = group.shuffle(first, 0) + group.thread_rank() as u32;
    // SAFETY: (1) the element belongs to this thread's own index.
    unsafe { put(places, own, place) };
}

/// Elements of shared memory of `copies_of_blocks` and its like.
pub const COPIED: usize = 512;

/// The block copies `len` elements of `x` from `from` on to shared memory from `to` on, and each
/// thread writes what it finds there.
///
/// # Safety
/// 1. `x` has the elements; `to + len <= COPIED`; `out` has [`COPIED`] elements for each block.
/// 2. `array` has [`COPIED`] elements, and is the block's own.
#[inline(always)]
#[track_caller]
unsafe fn copy_by_block<T: cuda_std::Pod>(
    (from, to, len): (usize, usize, usize),
    x: Global<T>,
    out: GlobalMut<T>,
    array: SharedSlice<T>,
) {
    let block = this_thread_block();
    // SAFETY: (1) is (1). (2) Read behind the wait.
    unsafe { memcpy_async(&block, (array, to), (x, from), len) };
    wait(&block);
    let first = thread::block_rank() as usize * COPIED;
    let mut index = to + block.thread_rank();
    while index < to + len {
        // SAFETY: (1) is (1). (2) The block has waited; each thread has its own elements.
        unsafe { put(out, first + index, array.load(index)) };
        index += block.size();
    }
}

macro_rules! copy_kernels {
    ($($name:ident: $element:ty;)*) => {$(
        #[doc = concat!("Copies ", stringify!($element), " by blocks.")]
        ///
        /// # Safety
        /// 1. `x` has the elements; `to + len <= COPIED`; `out` has [`COPIED`] elements for each
        ///    block.
        #[kernel]
        pub unsafe fn $name(from: usize, to: usize, len: usize, x: Global<$element>, out: GlobalMut<$element>) {
            let array = shared_array![$element; COPIED];
            // SAFETY: (1) is (1). (2) Declared here.
            unsafe { copy_by_block((from, to, len), x, out, array.as_slice()) }
        }
    )*};
}
copy_kernels! {
    copies_of_blocks_u8: u8;
    copies_of_blocks_u16: u16;
    copies_of_blocks_u32: u32;
    copies_of_blocks_f64: f64;
}

/// Each tile of 16 threads copies `len` elements of `x`, at most 16, from its own place on, and each
/// thread writes the element behind its own.
///
/// # Safety
/// 1. Blocks have [`COPIED`] threads at most, `len` is 1 to 16; `x` has 16 elements for each tile,
///    `out` one for each thread.
#[kernel]
pub unsafe fn copies_of_tiles(len: usize, x: Global<u32>, out: GlobalMut<u32>) {
    let array = shared_array![u32; COPIED];
    let tile = tiled_partition::<16>(&this_thread_block());
    let own = thread::own_index().get();
    let first = own - tile.thread_rank();
    let to = thread::rank_in_block() as usize - tile.thread_rank();
    // SAFETY: (1) is (1). (2) A tile has its own part of the array, and reads behind the wait.
    let value = unsafe {
        memcpy_async(
            &tile,
            (array.as_slice(), to),
            (x, first),
            len.min(tile.size()),
        );
        wait(&tile);
        array.load(to + (tile.thread_rank() + 1) % len.min(tile.size()))
    };
    // SAFETY: (1) the element belongs to this thread's own index.
    unsafe { put(out, own, value) };
}

/// Sums `x` in two phases: each block its part into `partials`, then each thread those of all
/// blocks. Then `rounds` times each element of `x` becomes the sum of itself and the next one.
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
    // SAFETY: (1) is (1). (2) The grid's barrier stands between what one thread writes and another
    // reads or writes, here and below.
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

/// What the grid of an ordinary launch is: validity, size, rank, blocks, the block's rank.
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
        // SAFETY: (1) the elements belong to this thread's own index.
        unsafe { put(out, thread::own_index().get() * 5 + i, *number) };
    }
}

//! The sum of an array in one launch.
//!
//! ```text
//! each thread:  add the elements of its block's tiles
//! each block:   add the threads' sums by shuffles; write the block's sum; take a ticket
//! last block:   add the blocks' sums the same way
//! ```
//!
//! Departures from the plain version, for speed:
//! 1. A thread loads 16 bytes at a time (seed 004's vectorised `thread_sum`) and starts
//!    `VECTORS_IN_FLIGHT` loads before it adds: the loads' latency overlaps.
//! 2. A warp adds by an unrolled butterfly of shuffles (the end of seed 001's ladder), without
//!    shared memory and without trusting that lanes run in lockstep.
//! 3. The block that finishes last adds the blocks' sums, found by an integer ticket, so there is
//!    no second launch (the CUDA samples' `threadFenceReduction`).
//!
//! Neither floating-point atomics nor the order in which blocks finish touch the result: the tree
//! is [`Plan`](super::Plan)'s.

use super::accumulate::{Accumulator, Summand};
use super::plan::{BLOCK_THREADS, VECTORS_IN_FLIGHT};
use cuda_std::block::{self, ReduceScratch};
use cuda_std::prelude::*;
use half::{bf16, f16};

/// Partial sums that the last block's threads load before they add.
const PARTIALS_IN_FLIGHT: usize = 4;

/// What the blocks of one launch share.
struct Workspace<'launch, S> {
    /// One element for each block, at least.
    partials: GlobalMut<'launch, S>,
    /// One counter: 0 when the launch starts, and again when it ends.
    ticket: GlobalMut<'launch, u32>,
    /// One element: the sum.
    result: GlobalMut<'launch, S>,
}

/// The sum of the lanes of a vector, by halves: the tree's height is log2(LANES).
#[inline(always)]
fn sum_of_vector<T: Summand, const LANES: usize>(values: [T; LANES]) -> T::Sum {
    let mut sums = values.map(T::widen);
    let mut half = LANES / 2;
    while half > 0 {
        let mut lane = 0;
        while lane < half {
            sums[lane] = sums[lane].plus(sums[lane + half]);
            lane += 1;
        }
        half /= 2;
    }
    sums[0]
}

/// Elements `at..at + LANES` of `x`, with zeros for those behind its end.
#[inline(always)]
fn load_or_zero<T: Summand, const LANES: usize>(x: Global<T>, at: usize) -> [T; LANES] {
    core::array::from_fn(|lane| x.get(at + lane).unwrap_or(T::zeroed()))
}

/// What the calling thread adds of its block's tiles.
///
/// # Safety
/// 1. `x` starts at a multiple of 16 bytes, and `LANES` elements are 16 bytes.
#[inline(always)]
unsafe fn sum_of_thread<T: Summand, const LANES: usize>(x: Global<T>) -> T::Sum {
    let vector_stride = BLOCK_THREADS as usize * LANES;
    let tile = vector_stride * VECTORS_IN_FLIGHT;
    let first = thread::thread_idx_x() as usize * LANES;
    let whole_tiles = x.len() / tile;
    let mut sums = [T::Sum::ZERO; VECTORS_IN_FLIGHT];

    let mut index = thread::block_idx_x() as usize;
    while index < whole_tiles {
        let start = index * tile + first;
        // SAFETY: (1) of `load_vector`: the tile is whole. (2) `start` and the stride are
        // multiples of LANES, so of 16 bytes from a base that is one, too.
        let vectors: [[T; LANES]; VECTORS_IN_FLIGHT] =
            core::array::from_fn(|v| unsafe { x.load_vector(start + v * vector_stride) });
        // By reference: an array that is moved into an iterator goes through local memory.
        for (sum, vector) in sums.iter_mut().zip(&vectors) {
            *sum = sum.plus(sum_of_vector(*vector));
        }
        index += thread::grid_dim_x() as usize;
    }
    if index == whole_tiles {
        let start = index * tile + first;
        for (v, sum) in sums.iter_mut().enumerate() {
            let vector = load_or_zero::<T, LANES>(x, start + v * vector_stride);
            *sum = sum.plus(sum_of_vector(vector));
        }
    }
    (sums[0].plus(sums[1])).plus(sums[2].plus(sums[3]))
}

/// The sum of the first `count` partial sums, as far as the calling thread adds it.
///
/// # Safety
/// 1. `count <= partials.len()`, and every block's partial sum is visible to this thread.
#[inline(always)]
unsafe fn sum_of_partials<S: Accumulator>(partials: GlobalMut<S>, count: usize) -> S {
    let stride = BLOCK_THREADS as usize;
    let mut sum = S::ZERO;
    let mut index = thread::thread_idx_x() as usize;
    while index < count {
        let loaded: [S; PARTIALS_IN_FLIGHT] = core::array::from_fn(|i| {
            let at = index + i * stride;
            if at >= count {
                return S::ZERO;
            }
            // SAFETY: (1) `at < count`. (2) All blocks have written theirs.
            unsafe { partials.load(at) }
        });
        for value in &loaded {
            sum = sum.plus(*value);
        }
        index += stride * PARTIALS_IN_FLIGHT;
    }
    sum
}

/// Publishes the block's sum and tells every thread whether its block is the last to do so.
///
/// # Safety
/// 1. The workspace is the launch's own, with one partial for each block and a ticket that
///    started at 0.
/// 2. `of_block` is right in thread 0.
/// 3. `flag` is the block's own.
#[inline(always)]
unsafe fn is_last_block<S: Accumulator>(
    workspace: &Workspace<S>,
    of_block: S,
    flag: SharedArray<u32, 1>,
) -> bool {
    if thread::thread_idx_x() == 0 {
        // SAFETY: (1) of each access is (1). (2) Each block writes its own partial; the ticket is
        // touched by atomics alone; thread 0 alone writes the flag.
        unsafe {
            workspace
                .partials
                .store(thread::block_idx_x() as usize, of_block);
            thread::fence_device();
            let ticket = workspace.ticket.atomic_add(0, 1);
            flag.store(0, u32::from(ticket + 1 == thread::grid_dim_x()));
        }
    }
    thread::sync_threads();
    // SAFETY: (1) one element. (2) Thread 0 wrote it before the barrier.
    let last = unsafe { flag.load(0) } == 1;
    if last {
        // The tickets that came before stand for partial sums: what follows must see them.
        thread::fence_device();
    }
    last
}

/// # Safety
/// 1. The launch has blocks of `BLOCK_THREADS` threads along x, and at most as many blocks as
///    `workspace.partials` has elements.
/// 2. `x` starts at a multiple of 16 bytes, and `LANES` elements are 16 bytes.
/// 3. The ticket is 0 and no other launch uses the workspace meanwhile.
#[inline(always)]
unsafe fn sum<T: Summand, const LANES: usize>(
    x: Global<T>,
    workspace: Workspace<T::Sum>,
    scratch: ReduceScratch<T::Sum>,
    flag: SharedArray<u32, 1>,
) {
    let blocks = thread::grid_dim_x() as usize;
    // SAFETY: (1) is (2).
    let of_thread = unsafe { sum_of_thread::<T, LANES>(x) };
    // SAFETY: (1) 256 threads are whole warps of 32 or 64. (2) `is_last_block` has a barrier
    // before `scratch` is used again.
    let of_block = unsafe { block::reduce(of_thread, T::Sum::ZERO, scratch, T::Sum::plus) };
    let is_first = thread::thread_idx_x() == 0;

    if blocks == 1 {
        if is_first {
            // SAFETY: (1) the result is one element. (2) One thread of one block writes it.
            unsafe { workspace.result.store(0, of_block.canonical()) };
        }
        return;
    }
    // SAFETY: (1) is (1) and (3). (2) `block::reduce` gives it to the first warp. (3) Static.
    if !unsafe { is_last_block(&workspace, of_block, flag) } {
        return;
    }
    // SAFETY: (1) the last block's ticket says that all blocks have written, and it has fenced.
    let of_thread = unsafe { sum_of_partials(workspace.partials, blocks) };
    // SAFETY: as above; the barrier in `is_last_block` lies between the two uses of `scratch`.
    let total = unsafe { block::reduce(of_thread, T::Sum::ZERO, scratch, T::Sum::plus) };
    if is_first {
        // SAFETY: (1) one element each. (2) All other blocks are done with both.
        unsafe {
            workspace.result.store(0, total.canonical());
            workspace.ticket.atomic_store(0, 0);
        }
    }
}

macro_rules! sum_kernels {
    ($($name:ident: $element:ty => $sum:ty, $lanes:literal;)*) => {$(
        #[doc = concat!("The sum of an array of ", stringify!($element), " in ", stringify!($sum), ".")]
        ///
        /// `partials` holds a block's sum each, `ticket` one counter, `result` the sum.
        ///
        /// # Safety
        /// 1. The launch has blocks of [`BLOCK_THREADS`] threads along x, and at most as many
        ///    blocks as `partials` has elements.
        /// 2. `x` starts at a multiple of 16 bytes; `ticket` and `result` have an element each.
        /// 3. The ticket is 0 and no other launch uses `partials` and `ticket` meanwhile; the
        ///    launch leaves the ticket at 0.
        #[kernel(max_threads = 256)]
        pub unsafe fn $name(
            x: Global<$element>,
            partials: GlobalMut<$sum>,
            ticket: GlobalMut<u32>,
            result: GlobalMut<$sum>,
        ) {
            let scratch = shared_array![$sum; block::MAX_WARPS];
            let flag = shared_array![u32; 1];
            let workspace = Workspace { partials, ticket, result };
            // SAFETY: (1), (2), (3) are the launch's.
            unsafe { sum::<$element, $lanes>(x, workspace, scratch, flag) }
        }
    )*};
}
sum_kernels! {
    reduce_sum_f32: f32 => f32, 4;
    reduce_sum_f64: f64 => f64, 2;
    reduce_sum_f16: f16 => f32, 8;
    reduce_sum_bf16: bf16 => f32, 8;
    reduce_sum_i32: i32 => i64, 4;
    reduce_sum_u32: u32 => u64, 4;
    reduce_sum_i64: i64 => i64, 2;
    reduce_sum_u64: u64 => u64, 2;
}

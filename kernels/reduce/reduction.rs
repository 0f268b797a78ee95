//! The reduction of an array in one launch.
//!
//! ```text
//! each thread:  lift and combine the elements of its block's tiles
//! each block:   combine the threads' accumulators by shuffles; write the block's; take a ticket
//! last block:   combine the blocks' accumulators the same way, and finish
//! ```
//!
//! Departures from the plain version, for speed:
//! 1. A thread loads 16 bytes at a time and starts `VECTORS_IN_FLIGHT` loads before it combines:
//!    the loads' latency overlaps. Their cache lines are the first to be evicted. Of an array that
//!    does not start at a multiple of 16 bytes the same threads load the same elements one by one,
//!    for the same bits: sums in kernels of their own, the other operations in a branch.
//! 2. A warp combines by an unrolled butterfly of shuffles, without shared memory and without
//!    trusting that lanes run in lockstep.
//! 3. The block that finishes last combines the blocks' accumulators, found by an integer ticket,
//!    so there is no second launch (`threadFenceReduction` of the CUDA samples).
//!
//! Neither floating-point atomics nor the order in which blocks finish touch the result: the tree
//! is [`Plan`](super::Plan)'s.

use super::elements::Elements;
use super::operation::Reduction;
use super::plan::{BLOCK_THREADS, VECTORS_IN_FLIGHT};
use super::ticket::takes_last_ticket;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::block::{self, ReduceScratch};
use cuda_std::prelude::*;
use cuda_std::warp::Exchange;

/// Partial results that the last block's threads load before they combine.
const PARTIALS_IN_FLIGHT: usize = 4;

/// What the blocks of one launch share.
pub struct Workspace<'launch, A, O> {
    pub blocks: usize,
    /// One element for each block, at least.
    pub partials: GlobalMut<'launch, A>,
    /// One counter: 0 when the launch starts, and again when it ends.
    pub ticket: GlobalMut<'launch, u32>,
    /// One element: the value of the array.
    pub result: GlobalMut<'launch, O>,
}

/// Reduces `x` to the one element of `result`: the body of a kernel that
/// [`reductions!`](crate::reductions) makes.
///
/// # Safety
/// 1. The launch has blocks of [`BLOCK_THREADS`] threads along x, and at most as many blocks as
///    `partials` has elements.
/// 2. `ticket` and `result` have an element each.
/// 3. The ticket is 0 and no other launch uses `partials` and `ticket` meanwhile.
/// 4. `scratch` and `flag` are the block's own.
/// 5. `LANES` elements of an array are 16 bytes.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn reduce_array<R: Reduction<T>, T: Pod, const LANES: usize>(
    x: Global<T>,
    partials: GlobalMut<R::Accumulator>,
    ticket: GlobalMut<u32>,
    result: GlobalMut<R::Output>,
    scratch: ReduceScratch<R::Accumulator>,
    flag: SharedArray<u32, 1>,
) {
    let workspace = Workspace {
        blocks: thread::grid_dim_x() as usize,
        partials,
        ticket,
        result,
    };
    // SAFETY: (1) is (5). Of `reduce_grid` (1) to (4) are those of this function.
    unsafe {
        let of_thread = reduce_thread_anywhere::<R, _, LANES>(x);
        reduce_grid::<R, T>(of_thread, x.len(), workspace, scratch, flag);
    }
}

/// Combines what the threads have of `elements` elements to the result.
///
/// # Safety
/// 1. The launch has blocks of `BLOCK_THREADS` threads along x, and at most as many blocks as
///    `workspace.partials` has elements.
/// 2. `ticket` and `result` have an element each.
/// 3. The ticket is 0 and no other launch uses the workspace meanwhile.
/// 4. `scratch` and `flag` are the block's own.
#[inline(always)]
pub unsafe fn reduce_grid<R: Reduction<T>, T: Pod>(
    of_thread: R::Accumulator,
    elements: usize,
    workspace: Workspace<R::Accumulator, R::Output>,
    scratch: ReduceScratch<R::Accumulator>,
    flag: SharedArray<u32, 1>,
) {
    let blocks = workspace.blocks;
    // SAFETY: (1) 256 threads are whole warps of 32 or 64. (2) `is_last_block` has a barrier
    // before `scratch` is used again.
    let of_block = unsafe { block::reduce(of_thread, R::IDENTITY, scratch, R::combine) };
    let is_first = thread::thread_idx_x() == 0;

    if blocks == 1 {
        if is_first {
            // SAFETY: (1) the result is one element, by (2). (2) One thread of one block writes it.
            unsafe { workspace.result.store(0, R::finish(of_block, elements)) };
        }
        return;
    }
    // SAFETY: (1) there are partials for the blocks, by (1), and the ticket started at 0, by (3).
    // (2) `block::reduce` gives it to the first warp. (3) The flag is the block's own, by (4).
    if !unsafe { is_last_block(&workspace, of_block, flag) } {
        return;
    }
    // SAFETY: (1) the last block's ticket says that all blocks have written, and it has fenced.
    let of_thread = unsafe { reduce_partials::<R, T>(workspace.partials, blocks) };
    // SAFETY: (1) as above. (2) The barrier in `is_last_block` lies between the two uses of
    // `scratch`, which is not used again.
    let total = unsafe { block::reduce(of_thread, R::IDENTITY, scratch, R::combine) };
    if is_first {
        // SAFETY: (1) both have one element, by (2). (2) All other blocks are done with them.
        unsafe {
            workspace.result.store(0, R::finish(total, elements));
            workspace.ticket.atomic_store(0, 0);
        }
    }
}

/// [`reduce_thread`] of elements that may start anywhere.
///
/// # Safety
/// 1. `LANES` elements of each array are 16 bytes.
#[inline(always)]
pub unsafe fn reduce_thread_anywhere<R: Reduction<X::Element>, X: Elements, const LANES: usize>(
    x: X,
) -> R::Accumulator {
    // SAFETY: (1) is (1), and the comparison.
    unsafe {
        if x.starts_at_multiple_of(16) {
            reduce_thread::<R, X, LANES, true>(x)
        } else {
            reduce_thread::<R, X, LANES, false>(x)
        }
    }
}

/// What the calling thread has of its block's tiles.
///
/// # Safety
/// 1. `LANES` elements of an array are 16 bytes, at a multiple of which `x` starts if `ALIGNED`.
#[inline(always)]
pub unsafe fn reduce_thread<
    R: Reduction<X::Element>,
    X: Elements,
    const LANES: usize,
    const ALIGNED: bool,
>(
    x: X,
) -> R::Accumulator {
    let whole_tiles = whole_tiles::<LANES>(x.len());
    let mut totals = [R::IDENTITY; VECTORS_IN_FLIGHT];

    let mut tile = thread::block_idx_x() as usize;
    while tile < whole_tiles {
        // SAFETY: (1) the tile is whole. (2) is (1).
        let vectors = unsafe { load_tile::<X, LANES, ALIGNED>(x, tile) };
        // By reference: an array that is moved into an iterator goes through local memory.
        for (v, (total, vector)) in totals.iter_mut().zip(&vectors).enumerate() {
            let lifted = lift::<R, X::Element, LANES>(vector, vector_start::<LANES>(tile, v));
            *total = R::combine(*total, reduce_vector::<R, X::Element, LANES>(lifted));
        }
        tile += thread::grid_dim_x() as usize;
    }
    if tile == whole_tiles {
        for (v, total) in totals.iter_mut().enumerate() {
            let lifted = lift_or_identity::<R, X, LANES>(x, vector_start::<LANES>(tile, v));
            *total = R::combine(*total, reduce_vector::<R, X::Element, LANES>(lifted));
        }
    }
    R::combine(
        R::combine(totals[0], totals[1]),
        R::combine(totals[2], totals[3]),
    )
}

/// Tiles of `elements` elements, without one that is not whole.
#[inline(always)]
pub fn whole_tiles<const LANES: usize>(elements: usize) -> usize {
    elements / (BLOCK_THREADS as usize * LANES * VECTORS_IN_FLIGHT)
}

/// The index of the first element of the calling thread's vector `vector` of a tile.
#[inline(always)]
pub fn vector_start<const LANES: usize>(tile: usize, vector: usize) -> usize {
    let threads = BLOCK_THREADS as usize;
    let first = tile * (threads * LANES * VECTORS_IN_FLIGHT);
    first + thread::thread_idx_x() as usize * LANES + vector * (threads * LANES)
}

/// The calling thread's vectors of a tile.
///
/// # Safety
/// 1. `x` has the whole tile.
/// 2. `LANES` elements of an array are 16 bytes, at a multiple of which `x` starts if `ALIGNED`.
#[inline(always)]
pub unsafe fn load_tile<X: Elements, const LANES: usize, const ALIGNED: bool>(
    x: X,
    tile: usize,
) -> [[X::Element; LANES]; VECTORS_IN_FLIGHT] {
    array::from_fn(|v| {
        // SAFETY: (1) is (1). (2) A vector starts at a multiple of LANES elements, so of 16 bytes from a
        // base that is one, too, if `ALIGNED`.
        unsafe { x.load::<LANES, ALIGNED>(vector_start::<LANES>(tile, v)) }
    })
}

/// The elements of a vector that starts at index `at`.
#[inline(always)]
fn lift<R: Reduction<T>, T: Pod, const LANES: usize>(
    vector: &[T; LANES],
    at: usize,
) -> [R::Accumulator; LANES] {
    array::from_fn(|lane| R::lift(vector[lane], at + lane))
}

/// Elements `at..at + LANES` of `x`, with the identity for those past its end.
#[inline(always)]
fn lift_or_identity<R: Reduction<X::Element>, X: Elements, const LANES: usize>(
    x: X,
    at: usize,
) -> [R::Accumulator; LANES] {
    array::from_fn(|lane| match x.get(at + lane) {
        Some(element) => R::lift(element, at + lane),
        None => R::IDENTITY,
    })
}

/// The lanes of a vector, combined by halves: the tree's height is log2(LANES).
#[inline(always)]
fn reduce_vector<R: Reduction<T>, T: Pod, const LANES: usize>(
    mut lanes: [R::Accumulator; LANES],
) -> R::Accumulator {
    let mut half = LANES / 2;
    while half > 0 {
        let mut lane = 0;
        while lane < half {
            lanes[lane] = R::combine(lanes[lane], lanes[lane + half]);
            lane += 1;
        }
        half /= 2;
    }
    lanes[0]
}

/// What the calling thread has of the first `count` partial results.
///
/// # Safety
/// 1. `count <= partials.len()`, and every block's partial result is visible to this thread.
#[inline(always)]
unsafe fn reduce_partials<R: Reduction<T>, T: Pod>(
    partials: GlobalMut<R::Accumulator>,
    count: usize,
) -> R::Accumulator {
    let stride = BLOCK_THREADS as usize;
    let mut total = R::IDENTITY;
    let mut index = thread::thread_idx_x() as usize;
    while index < count {
        let loaded: [R::Accumulator; PARTIALS_IN_FLIGHT] = array::from_fn(|i| {
            let at = index + i * stride;
            if at >= count {
                return R::IDENTITY;
            }
            // SAFETY: (1) `at < count`. (2) All blocks have written theirs.
            unsafe { partials.load(at) }
        });
        for value in &loaded {
            total = R::combine(total, *value);
        }
        index += stride * PARTIALS_IN_FLIGHT;
    }
    total
}

/// Publishes the block's partial result and tells every thread whether its block is the last to do so.
///
/// # Safety
/// 1. The workspace is the launch's own, with one partial for each block and a ticket that
///    started at 0.
/// 2. `of_block` is right in thread 0.
/// 3. `flag` is the block's own.
#[inline(always)]
unsafe fn is_last_block<A: Exchange, O: Pod>(
    workspace: &Workspace<A, O>,
    of_block: A,
    flag: SharedArray<u32, 1>,
) -> bool {
    if thread::thread_idx_x() == 0 {
        // SAFETY: (1) of the store is (1). (2) Each block writes its own partial.
        unsafe {
            workspace
                .partials
                .store(thread::block_idx_x() as usize, of_block);
        }
    }
    // SAFETY: (1) by (1). (2) by (3). Thread 0 has written what is published.
    unsafe { takes_last_ticket(workspace.ticket, (0, thread::grid_dim_x()), flag) }
}

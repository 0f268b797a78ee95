//! The reduction of an array in one launch.
//!
//! ```text
//! each thread:  lift and combine the elements of its block's tiles
//! each block:   combine the threads' accumulators by shuffles; write the block's; take a ticket
//! last block:   combine the blocks' accumulators the same way, and finish
//! ```
//!
//! Departures from the plain version, for speed:
//! 1. A thread loads 16 bytes at a time, and starts `VECTORS_IN_FLIGHT` loads before it combines,
//!    so the latencies overlap. Their cache lines are evicted first. If the array is not aligned to
//!    16 bytes, the same threads load the same elements one by one, for the same bits: sums in
//!    separate kernels, other operations in a branch.
//! 2. A warp combines with an unrolled butterfly of shuffles, without shared memory and without
//!    assuming lockstep.
//! 3. The last block to finish, found by an integer ticket, combines the blocks' accumulators, so
//!    there is no second launch (`threadFenceReduction` of the CUDA samples).
//!
//! The result depends neither on floating-point atomics nor on the order in which blocks finish:
//! the tree is [`Plan`](super::Plan)'s.

use super::elements::Elements;
use super::operation::Reduction;
use super::plan::{BLOCK_THREADS, VECTORS_IN_FLIGHT};
use super::ticket::takes_last_ticket;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::block::{self, ReduceScratch};
use cuda_std::prelude::*;
use cuda_std::warp::Exchange;

/// Partial results that a thread of the last block loads before it combines.
const PARTIALS_IN_FLIGHT: usize = 4;

/// The memory that a launch's blocks share.
pub struct Workspace<'launch, A, O> {
    pub blocks: usize,
    /// At least one element for each block.
    pub partials: GlobalMut<'launch, A>,
    /// One counter: 0 when the launch starts, and again when it ends.
    pub ticket: GlobalMut<'launch, u32>,
    /// One element: the value of the array.
    pub result: GlobalMut<'launch, O>,
}

/// Reduces `x` to the element of `result`: the body of the kernels of
/// [`reductions!`](crate::reductions).
///
/// # Safety
/// 1. The launch has blocks of [`BLOCK_THREADS`] threads along x, and at most as many blocks as
///    `partials` has elements.
/// 2. `ticket` and `result` have an element each.
/// 3. The ticket is 0 and no other launch uses `partials` and `ticket` meanwhile.
/// 4. Only this block uses `scratch` and `flag`.
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
    // SAFETY: the caller's contract.
    unsafe {
        let of_thread = reduce_thread_anywhere::<R, _, LANES>(x);
        reduce_grid::<R, T>(of_thread, x.len(), workspace, scratch, flag);
    }
}

/// Combines the threads' results of `elements` elements, and writes the value.
///
/// # Safety
/// 1. The launch has blocks of `BLOCK_THREADS` threads along x, and at most as many blocks as
///    `workspace.partials` has elements.
/// 2. `ticket` and `result` have an element each.
/// 3. The ticket is 0 and no other launch uses the workspace meanwhile.
/// 4. Only this block uses `scratch` and `flag`.
#[inline(always)]
pub unsafe fn reduce_grid<R: Reduction<T>, T: Pod>(
    of_thread: R::Accumulator,
    elements: usize,
    workspace: Workspace<R::Accumulator, R::Output>,
    scratch: ReduceScratch<R::Accumulator>,
    flag: SharedArray<u32, 1>,
) {
    let blocks = workspace.blocks;
    // SAFETY: 256 threads are whole warps of 32 or 64. `is_last_block` has a barrier before
    // `scratch` is used again.
    let of_block = unsafe { block::reduce(of_thread, R::IDENTITY, scratch, R::combine) };
    let is_first = thread::thread_idx_x() == 0;

    if blocks == 1 {
        if is_first {
            // SAFETY: `result` has an element: the caller's contract. One thread of one block
            // writes it.
            unsafe { workspace.result.store(0, R::finish(of_block, elements)) };
        }
        return;
    }
    // SAFETY: `partials` has an element for each block, the ticket started at 0, and only this
    // block uses the flag: the caller's contract. `block::reduce` returns `of_block` to the first
    // warp.
    if !unsafe { is_last_block(&workspace, of_block, flag) } {
        return;
    }
    // SAFETY: the last ticket means that all blocks have written their results, and a fence makes
    // them visible.
    let of_thread = unsafe { reduce_partials::<R, T>(workspace.partials, blocks) };
    // SAFETY: whole warps, as above. The barrier in `is_last_block` separates the two uses of
    // `scratch`, which is not used again.
    let total = unsafe { block::reduce(of_thread, R::IDENTITY, scratch, R::combine) };
    if is_first {
        // SAFETY: both have an element: the caller's contract. All other blocks have taken their
        // tickets.
        unsafe {
            workspace.result.store(0, R::finish(total, elements));
            workspace.ticket.atomic_store(0, 0);
        }
    }
}

/// [`reduce_thread`] for arrays of any alignment.
///
/// # Safety
/// 1. `LANES` elements of each array are 16 bytes.
#[inline(always)]
pub unsafe fn reduce_thread_anywhere<R: Reduction<X::Element>, X: Elements, const LANES: usize>(
    x: X,
) -> R::Accumulator {
    // SAFETY: `LANES` elements are 16 bytes: the caller's contract. The alignment was checked.
    unsafe {
        if x.starts_at_multiple_of(16) {
            reduce_thread::<R, X, LANES, true>(x)
        } else {
            reduce_thread::<R, X, LANES, false>(x)
        }
    }
}

/// Reduces the calling thread's elements of its block's tiles.
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
        // SAFETY: the tile is whole. `LANES` elements are 16 bytes, and `x` is aligned if
        // `ALIGNED`: the caller's contract.
        let vectors = unsafe { load_tile::<X, LANES, ALIGNED>(x, tile) };
        // By reference: moving an array into an iterator puts it in local memory.
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

/// The number of whole tiles of `elements` elements.
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

/// Loads the calling thread's vectors of a tile.
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
        // SAFETY: `x` has the tile and, if `ALIGNED`, is aligned to 16 bytes: the caller's contract. A vector starts
        // at a multiple of `LANES` elements, which are 16 bytes.
        unsafe { x.load::<LANES, ALIGNED>(vector_start::<LANES>(tile, v)) }
    })
}

/// Lifts the elements of a vector that starts at index `at`.
#[inline(always)]
fn lift<R: Reduction<T>, T: Pod, const LANES: usize>(
    vector: &[T; LANES],
    at: usize,
) -> [R::Accumulator; LANES] {
    array::from_fn(|lane| R::lift(vector[lane], at + lane))
}

/// Lifts elements `at..at + LANES` of `x`, with the identity past its end.
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

/// Combines the lanes of a vector by halves: a tree of height log2(LANES).
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

/// Reduces the calling thread's share of the first `count` partial results.
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
            // SAFETY: `at < count`. The partial results are visible: the caller's contract.
            unsafe { partials.load(at) }
        });
        for value in &loaded {
            total = R::combine(total, *value);
        }
        index += stride * PARTIALS_IN_FLIGHT;
    }
    total
}

/// Publishes the block's partial result. Returns, to every thread, whether its block is the last to do so.
///
/// # Safety
/// 1. Only this launch uses the workspace, which has one partial for each block and a ticket that started at 0.
/// 2. `of_block` is valid in thread 0.
/// 3. Only this block uses `flag`.
#[inline(always)]
unsafe fn is_last_block<A: Exchange, O: Pod>(
    workspace: &Workspace<A, O>,
    of_block: A,
    flag: SharedArray<u32, 1>,
) -> bool {
    if thread::thread_idx_x() == 0 {
        // SAFETY: `partials` has an element for each block: the caller's contract. Each block
        // writes its own.
        unsafe {
            workspace
                .partials
                .store(thread::block_idx_x() as usize, of_block);
        }
    }
    // SAFETY: the ticket started at 0, and only this block uses the flag: the caller's contract.
    // Thread 0 wrote the published result.
    unsafe { takes_last_ticket(workspace.ticket, (0, thread::grid_dim_x()), flag) }
}

//! A thread's search for the index of an extreme.
//!
//! ```text
//! each thread:  the highest rank of its elements, and the first tile that has it
//! each warp:    the highest rank of its threads; those that have it load their elements of that tile
//!               again, and take the index of the first
//! ```
//!
//! Carrying 64-bit indices costs more instructions than comparing ranks. So the loop over tiles only compares ranks,
//! and remembers a tile. The index of an extreme does not depend on the tree, so the result equals that of
//! [`reduce_thread`](super::reduction::reduce_thread).

use super::elements::Elements;
use super::operations::{Place, Rank as _};
use super::plan::VECTORS_IN_FLIGHT;
use super::reduction::{load_tile, vector_start, whole_tiles};
use cuda_std::Pod;
use cuda_std::prelude::*;

/// [`find_thread`] for arrays of any alignment.
///
/// # Safety
/// 1. `LANES` elements of an array are 16 bytes.
/// 2. All lanes of a warp call it together.
#[inline(always)]
pub unsafe fn find_thread_anywhere<R: Place<X::Element>, X: Elements, const LANES: usize>(
    x: X,
) -> R::Accumulator {
    // SAFETY: `LANES` elements are 16 bytes and all lanes call it: the caller's contract. The
    // alignment was checked, with the same result in all lanes.
    unsafe {
        if x.starts_at_multiple_of(16) {
            find_thread::<R, X, LANES, true>(x)
        } else {
            find_thread::<R, X, LANES, false>(x)
        }
    }
}

/// The highest rank of the calling thread's elements, with the index of the first that has it. The identity if
/// another thread of the warp has a higher rank.
///
/// # Safety
/// 1. `LANES` elements of an array are 16 bytes, at a multiple of which `x` starts if `ALIGNED`.
/// 2. All lanes of a warp call it together.
#[inline(always)]
unsafe fn find_thread<
    R: Place<X::Element>,
    X: Elements,
    const LANES: usize,
    const ALIGNED: bool,
>(
    x: X,
) -> R::Accumulator {
    // SAFETY: `LANES` elements are 16 bytes, and `x` is aligned if `ALIGNED`: the caller's
    // contract.
    let (highest, tile) = unsafe { highest_rank::<R, X, LANES, ALIGNED>(x) };
    if highest < warp::reduce(highest, Ord::max) {
        return R::IDENTITY;
    }
    // SAFETY: `LANES` elements are 16 bytes, and `x` is aligned if `ALIGNED`: the caller's
    // contract.
    let first = unsafe { first_of_rank::<R, X, LANES, ALIGNED>(x, tile, highest) };
    highest.at(first as u64)
}

/// The highest rank of the calling thread's elements, and the first tile that has it. Without elements, the lowest
/// rank and the block's first tile.
///
/// # Safety
/// 1. `LANES` elements of an array are 16 bytes, at a multiple of which `x` starts if `ALIGNED`.
#[inline(always)]
unsafe fn highest_rank<
    R: Place<X::Element>,
    X: Elements,
    const LANES: usize,
    const ALIGNED: bool,
>(
    x: X,
) -> (R::Rank, usize) {
    let whole_tiles = whole_tiles::<LANES>(x.len());
    let mut tile = thread::block_idx_x() as usize;
    // If all elements have the lowest rank, the first tile is right, too.
    let mut best = (R::Rank::LOWEST, tile);
    while tile < whole_tiles {
        // SAFETY: the tile is whole. `LANES` elements are 16 bytes, and `x` is aligned if
        // `ALIGNED`: the caller's contract.
        let vectors = unsafe { load_tile::<X, LANES, ALIGNED>(x, tile) };
        let mut of_tile = R::Rank::LOWEST;
        for vector in &vectors {
            of_tile = of_tile.max(highest_of_vector::<R, X::Element, LANES>(vector));
        }
        if of_tile > best.0 {
            best = (of_tile, tile);
        }
        tile += thread::grid_dim_x() as usize;
    }
    if tile == whole_tiles {
        let mut of_tile = R::Rank::LOWEST;
        for_each_own::<X, LANES>(x, tile, |_, element| {
            of_tile = of_tile.max(R::rank(element))
        });
        if of_tile > best.0 {
            best = (of_tile, tile);
        }
    }
    best
}

#[inline(always)]
fn highest_of_vector<R: Place<T>, T: Pod, const LANES: usize>(vector: &[T; LANES]) -> R::Rank {
    let mut highest = R::Rank::LOWEST;
    for element in vector {
        highest = highest.max(R::rank(*element));
    }
    highest
}

/// The index of the calling thread's first element of a tile with the rank, or the largest index if there is none.
///
/// # Safety
/// 1. `LANES` elements of an array are 16 bytes, at a multiple of which `x` starts if `ALIGNED`.
#[inline(always)]
unsafe fn first_of_rank<
    R: Place<X::Element>,
    X: Elements,
    const LANES: usize,
    const ALIGNED: bool,
>(
    x: X,
    tile: usize,
    rank: R::Rank,
) -> usize {
    let mut first = usize::MAX;
    let mut take = |index: usize, element: X::Element| {
        if R::rank(element) == rank {
            first = first.min(index);
        }
    };
    if tile < whole_tiles::<LANES>(x.len()) {
        // Starts all loads at once, not each after a comparison.
        // SAFETY: the tile is whole: compared above. `LANES` elements are 16 bytes, and `x` is
        // aligned if `ALIGNED`: the caller's contract.
        let vectors = unsafe { load_tile::<X, LANES, ALIGNED>(x, tile) };
        for (v, vector) in vectors.iter().enumerate() {
            for (lane, element) in vector.iter().enumerate() {
                take(vector_start::<LANES>(tile, v) + lane, *element);
            }
        }
    } else {
        for_each_own::<X, LANES>(x, tile, take);
    }
    first
}

/// Calls `with` for each of the calling thread's elements of a tile, whole or not, and its index, in order.
#[inline(always)]
fn for_each_own<X: Elements, const LANES: usize>(
    x: X,
    tile: usize,
    mut with: impl FnMut(usize, X::Element),
) {
    for v in 0..VECTORS_IN_FLIGHT {
        for lane in 0..LANES {
            let index = vector_start::<LANES>(tile, v) + lane;
            if let Some(element) = x.get(index) {
                with(index, element);
            }
        }
    }
}

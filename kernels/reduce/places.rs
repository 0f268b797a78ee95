//! What a thread has of an array for the place of an extreme.
//!
//! ```text
//! each thread:  the highest rank of its elements, and the first tile that has it
//! each warp:    the highest rank of its threads; those that have it load their elements of that tile
//!               again, and take the index of the first
//! ```
//!
//! Combined with each element, indices of 64 bits cost more instructions than the ranks. So the loop over
//! the tiles combines ranks alone, and remembers a tile. The place of an extreme does not depend on the
//! tree: the value is that of [`reduce_thread`](super::reduction::reduce_thread).

use super::elements::Elements;
use super::operations::{Place, Rank as _};
use super::plan::VECTORS_IN_FLIGHT;
use super::reduction::{load_tile, vector_start, whole_tiles};
use cuda_std::Pod;
use cuda_std::prelude::*;

/// [`find_thread`] of elements that may start anywhere.
///
/// # Safety
/// 1. `LANES` elements of an array are 16 bytes.
/// 2. All lanes of a warp call it together.
#[inline(always)]
pub unsafe fn find_thread_anywhere<R: Place<X::Element>, X: Elements, const LANES: usize>(
    x: X,
) -> R::Accumulator {
    // SAFETY: (1) is (1), and the comparison. (2) is (2), as `x` is the same in all.
    unsafe {
        if x.starts_at_multiple_of(16) {
            find_thread::<R, X, LANES, true>(x)
        } else {
            find_thread::<R, X, LANES, false>(x)
        }
    }
}

/// The highest rank of the calling thread's elements of its block's tiles, with the index of the first that
/// has it; the identity where another thread of the warp has a higher one.
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
    // SAFETY: (1) is (1).
    let (highest, tile) = unsafe { highest_rank::<R, X, LANES, ALIGNED>(x) };
    if highest < warp::reduce(highest, Ord::max) {
        return R::IDENTITY;
    }
    // SAFETY: (1) is (1).
    let first = unsafe { first_of_rank::<R, X, LANES, ALIGNED>(x, tile, highest) };
    highest.at(first as u64)
}

/// The highest rank of the calling thread's elements, and the first tile in which it has one of it: the
/// lowest rank, and its block's first tile, where it has no elements.
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
    // Elements of the lowest rank alone are found in the first tile, too.
    let mut best = (R::Rank::LOWEST, tile);
    while tile < whole_tiles {
        // SAFETY: (1) the tile is whole. (2) is (1).
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

/// The index of the first of the calling thread's elements of a tile that has the rank; the largest of all
/// indices where none has.
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
        // All loads at once, not one after a comparison with another.
        // SAFETY: (1) is the comparison. (2) is (1).
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

/// Calls `with` with each of the calling thread's elements of any tile, and its index, in their order.
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

//! Steps of the tree of [`LinePlan`](super::LinePlan): the elements of accumulators, neighbours in a thread's
//! registers, and neighbours among lanes.

use super::plan::STRANDS_OF_LANE;
use crate::reduce::operation::Reduction;
use cuda_std::Pod;
use cuda_std::prelude::*;
use cuda_std::warp::Exchange as _;

/// Combines each accumulator with its element of the quad that starts at index `at` of the line, for the
/// first `count` accumulators.
#[inline(always)]
pub fn combine_quad<R: Reduction<T>, T: Pod>(
    strands: &mut [R::Accumulator; STRANDS_OF_LANE],
    quad: &[T; STRANDS_OF_LANE],
    at: usize,
    count: usize,
) {
    let mut strand = 0;
    while strand < STRANDS_OF_LANE {
        if strand < count {
            let lifted = R::lift(quad[strand], at + strand);
            strands[strand] = R::combine(strands[strand], lifted);
        }
        strand += 1;
    }
}

/// Neighbours, then neighbours of pairs, and so on, of a power of two of accumulators.
#[inline(always)]
pub(crate) fn combine_neighbours<R: Reduction<T>, T: Pod, const N: usize>(
    mut values: [R::Accumulator; N],
) -> R::Accumulator {
    let mut distance = 1;
    while distance < N {
        let mut place = 0;
        while place < N {
            values[place] = R::combine(values[place], values[place + distance]);
            place += 2 * distance;
        }
        distance *= 2;
    }
    values[0]
}

/// The accumulators of groups of `lanes` lanes, a power of two, combined as neighbours, then as
/// neighbours of pairs, and so on, in every lane of each group.
#[inline(always)]
pub(crate) fn combine_lanes<R: Reduction<T>, T: Pod>(
    value: R::Accumulator,
    lanes: u32,
) -> R::Accumulator {
    let mut value = value;
    let mut distance = 1;
    while distance < lanes {
        value = R::combine(value, value.exchange_xor(LaneMask::all(), distance));
        distance *= 2;
    }
    value
}

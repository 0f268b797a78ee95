//! Steps of the tree of [`LinePlan`](super::LinePlan): elements into accumulators, neighbours in a thread's
//! registers, and neighbouring lanes.

use super::plan::LANE_ACCUMULATORS;
use crate::reduce::operation::Reduction;
use cuda_std::Pod;
use cuda_std::prelude::*;
use cuda_std::warp::Exchange as _;

/// Combines the first `count` accumulators with their elements of the quad at index `at` of the line.
#[inline(always)]
pub fn combine_quad<R: Reduction<T>, T: Pod>(
    accumulators: &mut [R::Accumulator; LANE_ACCUMULATORS],
    quad: &[T; LANE_ACCUMULATORS],
    at: usize,
    count: usize,
) {
    let mut i = 0;
    while i < LANE_ACCUMULATORS {
        if i < count {
            let lifted = R::lift(quad[i], at + i);
            accumulators[i] = R::combine(accumulators[i], lifted);
        }
        i += 1;
    }
}

/// Combines neighbours, then neighbouring pairs, and so on. `N` is a power of two.
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

/// Combines the accumulators of groups of `lanes` lanes, a power of two: neighbours, then
/// neighbouring pairs, and so on. Every lane of a group gets the result.
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

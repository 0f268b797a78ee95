//! Values of the threads that share a row, combined: lanes by shuffles, and warps through shared memory.

use super::plan::LANES_OF_ROW;
use cuda_std::block;
use cuda_std::prelude::*;
use cuda_std::warp::Exchange;

/// Shared memory for one value of each group of 32 threads of a block.
pub type Scratch<'block, A = f32> = SharedArray<'block, A, { block::MAX_WARPS }>;

/// Combines the values of groups of `lanes` lanes, a power of two up to 32: neighbours, then pairs of neighbours, and
/// so on. Every lane of a group gets the result.
///
/// All lanes of the warp call it, because warps may have 64.
#[inline(always)]
#[track_caller]
pub fn lanes<A: Exchange>(value: A, lanes: u32, combine: impl Fn(A, A) -> A) -> A {
    let [value] = lanes_of_rows([value], lanes, combine);
    value
}

/// [`lanes`] of one value for each of `ROWS` rows. The rows' shuffles come together, so that they wait once.
#[inline(always)]
#[track_caller]
pub fn lanes_of_rows<A: Exchange, const ROWS: usize>(
    values: [A; ROWS],
    lanes: u32,
    combine: impl Fn(A, A) -> A,
) -> [A; ROWS] {
    let mut values = values;
    let mut distance = 1;
    while distance < lanes {
        let mut others = values;
        let mut row = 0;
        while row < ROWS {
            others[row] = values[row].exchange_xor(LaneMask::all(), distance);
            row += 1;
        }
        row = 0;
        while row < ROWS {
            values[row] = combine(values[row], others[row]);
            row += 1;
        }
        distance *= 2;
    }
    values
}

/// Combines the values of a block: of each group of 32 threads, then of the groups. Every thread gets the result.
///
/// # Safety
/// 1. Blocks have a multiple of 64 threads, along x, all of which call it.
/// 2. Nothing else touches `scratch` from the last barrier before the call on.
#[inline(always)]
#[track_caller]
pub unsafe fn block<A: Exchange>(
    value: A,
    neutral: A,
    scratch: Scratch<A>,
    combine: impl Fn(A, A) -> A,
) -> A {
    let thread = thread::thread_idx_x();
    let (group, lane) = (thread / LANES_OF_ROW, thread % LANES_OF_ROW);
    let groups = thread::block_dim_x() / LANES_OF_ROW;
    let of_group = lanes(value, LANES_OF_ROW, &combine);
    if lane == 0 {
        // SAFETY: a block has at most `MAX_WARPS` groups. One thread writes each element, before the barrier.
        unsafe { scratch.store(group as usize, of_group) };
    }
    thread::sync_threads();
    let of_lane = if lane < groups {
        // SAFETY: each group wrote its element before the barrier above.
        unsafe { scratch.load(lane as usize) }
    } else {
        neutral
    };
    lanes(of_lane, LANES_OF_ROW, combine)
}

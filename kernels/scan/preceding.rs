//! What precedes a tile: tickets, the sums of warps, and those of earlier tiles.

use super::place::warp_of;
use super::plan::{BEFORE, FAN, PARTS, ROW_THREADS, SPAN_TILES, ScanPlan, WARPS};
use super::shuffles::total_of_row;
use super::state::State;
use super::value::ScanValue;
use super::views::Shared;
use crate::reduce::Reduction;
use cuda_std::Pod;
use cuda_std::prelude::*;

/// Takes the next tile, for all threads of the block.
///
/// # Safety
/// 1. Only this block uses `shared`, and for nothing else.
#[inline(always)]
pub unsafe fn take_tile(state: State, shared: SharedArray<u32, 1>) -> usize {
    if thread::thread_idx_x() == 0 {
        // SAFETY: the array has one element, which one thread writes, before the barrier.
        unsafe { shared.store(0, state.take_ticket()) };
    }
    thread::sync_threads();
    // SAFETY: thread 0 wrote the element, before the barrier above.
    unsafe { shared.load(0) as usize }
}

/// The sum of the warps before the calling thread's, and the sum of all warps.
///
/// # Safety
/// 1. Only this block uses `shared`, and for nothing else.
#[inline(always)]
pub unsafe fn add_warps<R: Reduction<T>, T: Pod>(
    of_warp: R::Accumulator,
    shared: SharedArray<R::Accumulator, PARTS>,
) -> (R::Accumulator, R::Accumulator) {
    let thread = thread::thread_idx_x();
    let own = warp_of(thread);
    if thread.is_multiple_of(ROW_THREADS) {
        // SAFETY: the array has an element for each warp. One thread writes it, before the barrier.
        unsafe { shared.store(own, of_warp) };
    }
    thread::sync_threads();
    let (mut before, mut total) = (R::IDENTITY, R::IDENTITY);
    let mut warp = 0;
    while warp < WARPS {
        if warp == own {
            before = total;
        }
        // SAFETY: every warp wrote its element before the barrier above.
        total = R::combine(total, unsafe { shared.load(warp) });
        warp += 1;
    }
    (before, total)
}

/// Waits for the sums that precede a tile, and adds them. Publishes the sums of the group and the span that the tile
/// completes.
///
/// # Safety
/// 1. The launch has blocks of `SCAN_THREADS` threads, and tiles are tickets. The tile's own sum is published.
/// 2. `of_tile` is the same in all threads.
/// 3. Only this block uses `shared`, and `shared.before` for nothing else since the last barrier.
#[inline(always)]
pub unsafe fn sum_before<R: Reduction<T, Accumulator: ScanValue>, T: Pod>(
    state: State,
    plan: ScanPlan,
    (tile, of_tile): (usize, R::Accumulator),
    shared: &Shared<T, R::Accumulator>,
) -> R::Accumulator {
    let thread = thread::thread_idx_x();
    let (row, slot) = (warp_of(thread), (thread % ROW_THREADS) as usize);
    let (group, of_group) = (tile / FAN, tile % FAN);
    let (span, of_span) = (group / FAN, group % FAN);
    let awaited = match row {
        0 if slot < of_group => Some(state.of_tile::<R::Accumulator>(group * FAN + slot)),
        1 if slot < of_span => Some(state.of_group::<R::Accumulator>(span * FAN + slot)),
        2 if slot == 0 && span > 0 => Some(state.before_span::<R::Accumulator>(span)),
        _ => None,
    };
    let sum = match awaited {
        // SAFETY: blocks with lower tickets have started. They publish the sums of their tiles, and of the groups and
        // spans that these complete.
        Some(place) => unsafe { state.wait_for(place) },
        None => R::IDENTITY,
    };
    let sum = total_of_row::<R, T>(sum);
    if slot == 0 && row < BEFORE {
        // SAFETY: `before` has an element for each of these rows. One thread writes it, before the
        // barrier.
        unsafe { shared.before.store(row, sum) };
    }
    if thread == 0 && of_group == FAN - 1 {
        // SAFETY: the group exists: the tile is in it.
        unsafe {
            state.publish(
                state.of_group::<R::Accumulator>(group),
                R::combine(sum, of_tile),
            )
        };
    }
    thread::sync_threads();
    // SAFETY: all three elements were written before the barrier above.
    let (in_group, in_span, before_span) = unsafe {
        let before = shared.before;
        (before.load(0), before.load(1), before.load(2))
    };
    let is_last = tile % SPAN_TILES == SPAN_TILES - 1;
    if thread == 0 && is_last && span + 1 < plan.spans() {
        let of_span = R::combine(in_span, R::combine(in_group, of_tile));
        // SAFETY: the span exists: compared above.
        unsafe {
            state.publish(
                state.before_span::<R::Accumulator>(span + 1),
                R::combine(before_span, of_span),
            )
        };
    }
    R::combine(R::combine(before_span, in_span), in_group)
}

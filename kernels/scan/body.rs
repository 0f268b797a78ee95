//! The scan of a buffer, or of the rows of a matrix.

use super::place::{Place, warp_of};
use super::plan::{FAN, ROW_THREADS, SPAN_TILES, ScanPlan, ScanShape, WARPS};
use super::state::State;
use super::tile::{Before, Tile, total_of_row};
use super::value::ScanValue;
use crate::outputs::StoreWay;
#[cfg(feature = "entries")]
use crate::outputs::Way;
use crate::reduce::Reduction;
use cuda_std::Pod;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// The number of sums that precede a tile: of its group, its span, and all before.
pub const BEFORE: usize = 3;

/// The shared memory of a block.
pub struct Shared<'block, T, A> {
    /// The block's tile number.
    pub tile: SharedArray<'block, u32, 1>,
    /// The sum of each warp.
    pub of_warps: SharedArray<'block, A, WARPS>,
    /// The sums of the group's earlier tiles, of the span's earlier groups, and of everything before the span.
    pub before: SharedArray<'block, A, BEFORE>,
    /// The tile's elements.
    pub staged: SharedSlice<'block, T>,
}

/// The arrays of a launch.
pub struct Operands<'launch, T, O> {
    /// The elements.
    pub x: Global<'launch, T>,
    /// The results.
    pub y: GlobalMut<'launch, O>,
    /// What the blocks share.
    pub state: GlobalMut<'launch, u64>,
}

/// What a block scans, besides the elements.
struct Block<'launch, A> {
    plan: ScanPlan,
    /// The state of the row.
    state: State<'launch>,
    /// The number of the tile in its row.
    tile: usize,
    place: Place,
    is_exclusive: bool,
    /// The initial value, if there is one.
    initial: Option<A>,
}

/// Writes the prefixes of `x` to `y`.
///
/// # Safety
/// 1. The launch has blocks of `SCAN_THREADS` threads along x, and one for each tile.
/// 2. `y` is as long as `x`.
/// 3. `state` are the plan's `state_words()`, all 0, and no other launch uses them meanwhile.
/// 4. Only this block uses `shared`, and `shared.staged` holds a tile.
#[cfg(feature = "entries")]
#[inline(always)]
pub unsafe fn scan<R, T: Pod, const LANES: usize, const EXCLUSIVE: bool>(
    operands: Operands<T, R::Output>,
    shared: Shared<T, R::Accumulator>,
) where
    R: Reduction<T, Accumulator: ScanValue>,
{
    let plan = ScanPlan::of::<R, T>(operands.x.len());
    // SAFETY: the words are the plan's, 0 at the start, and only this launch uses them: the
    // caller's contract.
    let state = unsafe { State::new(operands.state, plan) };
    let tile = if thread::grid_dim_x() == 1 {
        0
    } else {
        // SAFETY: only this block uses the memory: the caller's contract. With several tiles, the
        // state has a ticket.
        unsafe { take_tile(state, shared.tile) }
    };
    let block = Block {
        plan,
        state,
        tile,
        place: Place::of_array::<LANES>(tile, operands.x.len()),
        is_exclusive: EXCLUSIVE,
        initial: None,
    };
    // SAFETY: the place was made of the length of `x`, and `y` is as long. Each tile belongs to one block. The rest is
    // the caller's contract.
    unsafe { scan_block::<R, T, Way<true>, LANES, LANES, false>(operands, block, shared) };
}

/// Writes the prefixes of the rows of `shape`, each like a buffer of its length, to `y`.
///
/// # Safety
/// 1. The launch has blocks of `SCAN_THREADS` threads along x: one for each tile of each row, or for the plan's
///    `rows_of_block` rows. There is an element.
/// 2. `x` and `y` have the rows, which start with the first element and are `shape`'s elements apart. No rows of `y`
///    share elements.
/// 3. `state` are the plan's `state_words()` for each row, all 0, and no other launch uses them meanwhile.
/// 4. Only this block uses `shared`, and `shared.staged` holds a tile.
/// 5. `LANES` elements are 16 bytes. `W` and `OUTPUTS` are what `outputs.rs` says for elements and results.
#[inline(always)]
pub unsafe fn scan_rows<R, T: Pod, W: StoreWay, const LANES: usize, const OUTPUTS: usize>(
    operands: Operands<T, R::Output>,
    initial: T,
    shape: &ScanShape,
    shared: Shared<T, R::Accumulator>,
) where
    R: Reduction<T, Accumulator: ScanValue>,
{
    let plan = ScanPlan::of::<R, T>(shape.len);
    // SAFETY: the words are the plan's, 0 at the start, and only this launch uses them: the
    // caller's contract.
    let state = unsafe { State::new(operands.state, plan) };
    let block = if plan.tiles == 1 {
        thread::block_idx_x() as usize
    } else {
        // SAFETY: only this block uses the memory: the caller's contract. With several tiles, the
        // state has a ticket.
        unsafe { take_tile(state, shared.tile) }
    };
    let block = Block {
        plan,
        // SAFETY: there are words for each row, and a block for each tile of each row: the caller's contract.
        state: unsafe { state.of_row(block / plan.tiles) },
        tile: block % plan.tiles,
        place: Place::of_rows::<LANES>(block, shape, &plan),
        is_exclusive: shape.is_exclusive != 0,
        initial: (shape.has_initial != 0).then(|| R::lift(initial, 0)),
    };
    // SAFETY: the place was made of the rows, which `x` and `y` have. Each tile belongs to one block. The rest is the
    // caller's contract.
    unsafe { scan_block::<R, T, W, LANES, OUTPUTS, true>(operands, block, shared) };
}

/// Scans the elements of a block.
///
/// # Safety
/// 1. The place is one of `x` and `y`, and no other block has it.
/// 2. The launch has blocks of `SCAN_THREADS` threads along x. Tiles are tickets, if a row has several.
/// 3. Only this block uses `shared`, and `shared.staged` holds a tile.
/// 4. `LANES` elements are 16 bytes. `W` and `OUTPUTS` are what `outputs.rs` says for elements and
///    results.
#[inline(always)]
unsafe fn scan_block<
    R,
    T: Pod,
    W: StoreWay,
    const LANES: usize,
    const OUTPUTS: usize,
    const CHECKED: bool,
>(
    operands: Operands<T, R::Output>,
    block: Block<R::Accumulator>,
    shared: Shared<T, R::Accumulator>,
) where
    R: Reduction<T, Accumulator: ScanValue>,
{
    let place = block.place;
    let tile = Tile {
        staged: shared.staged,
        place,
    };
    // SAFETY: the place is one of `x`. `shared.staged` holds a tile, and only this block uses it: the caller's
    // contract. `stage` writes the elements that `scan_warp` reads.
    let (vectors, of_warp) = unsafe {
        tile.stage::<LANES>(operands.x);
        tile.scan_warp::<R, LANES, CHECKED>()
    };
    let in_row = if place.is_of_warp {
        R::IDENTITY
    } else {
        // SAFETY: only this block uses the memory, and blocks have `SCAN_THREADS` threads: the caller's contract.
        // `add_warps` returns the same `of_tile` to all threads. Tiles are tickets.
        unsafe {
            let (before_warp, of_tile) = add_warps::<R, T>(of_warp, shared.of_warps);
            let before_tile = if block.plan.tiles == 1 {
                R::IDENTITY
            } else {
                sum_before::<R, T>(block.state, block.plan, (block.tile, of_tile), &shared)
            };
            R::combine(before_tile, before_warp)
        }
    };
    let before = Before {
        is_exclusive: block.is_exclusive,
        warp: match block.initial {
            Some(initial) => R::combine(initial, in_row),
            None => in_row,
        },
        vectors: &vectors,
    };
    // SAFETY: the place is one of `y`, and no other thread has it: the caller's contract. `stage` wrote the elements.
    unsafe { tile.store::<R, W, LANES, OUTPUTS, CHECKED>(operands.y, before) };
}

/// Takes the next tile, for all threads of the block.
///
/// # Safety
/// 1. Only this block uses `shared`, and for nothing else.
#[inline(always)]
unsafe fn take_tile(state: State, shared: SharedArray<u32, 1>) -> usize {
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
unsafe fn add_warps<R: Reduction<T>, T: Pod>(
    of_warp: R::Accumulator,
    shared: SharedArray<R::Accumulator, WARPS>,
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

/// Waits for the sums that precede a tile, and adds them. Publishes the sums that the tile completes.
///
/// # Safety
/// 1. The launch has blocks of `SCAN_THREADS` threads, and tiles are tickets.
/// 2. `of_tile` is the same in all threads.
/// 3. Only this block uses `shared`, and `shared.before` for nothing else.
#[inline(always)]
unsafe fn sum_before<R: Reduction<T, Accumulator: ScanValue>, T: Pod>(
    state: State,
    plan: ScanPlan,
    (tile, of_tile): (usize, R::Accumulator),
    shared: &Shared<T, R::Accumulator>,
) -> R::Accumulator {
    let thread = thread::thread_idx_x();
    let (row, slot) = (warp_of(thread), (thread % ROW_THREADS) as usize);
    let (group, of_group) = (tile / FAN, tile % FAN);
    let (span, of_span) = (group / FAN, group % FAN);
    if thread == 0 {
        // SAFETY: the state has the tile: tiles are tickets, by the caller's contract.
        unsafe { state.publish(state.of_tile::<R::Accumulator>(tile), of_tile) };
    }
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

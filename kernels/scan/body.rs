//! The scan of a buffer, or of contiguous lines.

use super::across::scan_across;
use super::place::Place;
use super::plan::{ScanPlan, ScanShape};
use super::preceding::{add_warps, sum_before, take_tile};
use super::segments::Segments;
use super::state::State;
use super::tile::{Before, Tile, results_of};
use super::value::ScanValue;
use super::views::{Block, Kind, Operands, Shared};
use crate::outputs::StoreWay;
#[cfg(feature = "entries")]
use crate::outputs::Way;
use crate::reduce::Reduction;
use cuda_std::Pod;
use cuda_std::prelude::*;

/// Whether a thread keeps in registers what precedes each of its vectors, rather than scan the tile once more: there are
/// registers for as many words, and for fewer if it also compares which elements exist. With more lanes, the compiler
/// indexes the sums in memory.
const fn keeps_sums<R: Reduction<T, Accumulator: ScanValue>, T: Pod, const LANES: usize>() -> bool {
    LANES <= 4 && <R::Accumulator as ScanValue>::WORDS <= if R::IS_TOTAL { 2 } else { 1 }
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
        kind: Kind {
            is_exclusive: EXCLUSIVE,
            initial: None,
        },
    };
    let tile = Tile {
        staged: shared.staged,
        place: block.place,
    };
    // SAFETY: the place was made of the length of `x`, and `y` is as long. Each tile belongs to one block. `stage` writes
    // the elements that the other reads. The rest is the caller's contract.
    unsafe {
        tile.stage::<LANES>(operands.x);
        scan_once::<R, T, Way<true>, LANES, LANES>(tile, operands.y, block, shared);
    }
}

/// Writes the results of a block whose elements are staged, with what precedes each vector of a thread in registers.
///
/// # Safety
/// Those of [`scan_block`]; and the thread has staged its elements, of the block's place.
#[inline(always)]
unsafe fn scan_once<R, T: Pod, W: StoreWay, const LANES: usize, const OUTPUTS: usize>(
    tile: Tile<T>,
    y: GlobalMut<R::Output>,
    block: Block<R::Accumulator>,
    shared: Shared<T, R::Accumulator>,
) where
    R: Reduction<T, Accumulator: ScanValue>,
{
    let kind = block.kind;
    // SAFETY: the elements are staged, and the place is one of `y`. The launch, the tickets and the memory: the caller's
    // contract.
    unsafe {
        let (vectors, of_warp) = tile.scan_warp::<R, LANES>();
        let in_line = match block.place.is_of_warp {
            true => R::IDENTITY,
            false => before_warp::<R, T>(block, of_warp, &shared),
        };
        let before = Before {
            is_exclusive: kind.is_exclusive,
            warp: kind.after_initial::<R, T>(in_line),
            vector: R::IDENTITY,
        };
        tile.store::<R, W, LANES, OUTPUTS>(y, before, &vectors);
    }
}

/// What precedes the calling thread's warp in its line. Publishes the sums that the tile completes.
///
/// # Safety
/// 1. The launch has blocks of `SCAN_THREADS` threads along x. Tiles are tickets, if a line has several.
/// 2. Only this block uses `shared`.
#[inline(always)]
unsafe fn before_warp<R: Reduction<T, Accumulator: ScanValue>, T: Pod>(
    block: Block<R::Accumulator>,
    of_warp: R::Accumulator,
    shared: &Shared<T, R::Accumulator>,
) -> R::Accumulator {
    let Block {
        plan, state, tile, ..
    } = block;
    // SAFETY: only this block uses the memory, and blocks have `SCAN_THREADS` threads: the caller's contract.
    // `add_warps` returns the same `of_tile` to all threads. The state has the tile: tiles are tickets.
    unsafe {
        let (before_warp, of_tile) = add_warps::<R, T>(of_warp, shared.of_parts);
        let before_tile = if plan.tiles == 1 {
            R::IDENTITY
        } else {
            if thread::thread_idx_x() == 0 {
                state.publish(state.of_tile::<R::Accumulator>(tile), of_tile);
            }
            sum_before::<R, T>(state, plan, (tile, of_tile), shared)
        };
        R::combine(before_tile, before_warp)
    }
}

/// Writes the prefixes of lines, each like a buffer of its length, to `y`: of the lines of `shape`, or of `segments`, if
/// there are any.
///
/// # Safety
/// 1. The launch has blocks of `SCAN_THREADS` threads along x: as many as `ScanPlan::blocks` of lines, or
///    one for each tile in the list of `segments` and one for each 64 segments. There is an element.
/// 2. `x` and `y` have the lines, at the places that `shape` says. No lines of `y` share elements.
/// 3. `state` are the plan's `state_words()` for each line, or the words of `segments`, all 0, and no other launch uses
///    them meanwhile.
/// 4. Only this block uses `shared`, and `shared.staged` holds a tile.
/// 5. `LANES` elements are 16 bytes. `W` and `OUTPUTS` are what `outputs.rs` says for elements and results.
#[inline(always)]
pub unsafe fn scan_lines<R, T: Pod, W: StoreWay, const LANES: usize, const OUTPUTS: usize>(
    operands: Operands<T, R::Output>,
    initial: T,
    (shape, segments): (&ScanShape, Segments),
    shared: Shared<T, R::Accumulator>,
) where
    R: Reduction<T, Accumulator: ScanValue>,
{
    let kind = Kind {
        is_exclusive: shape.is_exclusive != 0,
        initial: (shape.has_initial != 0).then(|| R::lift(initial, 0)),
    };
    // SAFETY: the caller's contract, for lines of the kind. The place of a contiguous block is one of the lines', which
    // `x` and `y` have, and no other block's.
    unsafe {
        let block = if !segments.is_empty() {
            let numbered = segments.number::<R, T>(operands.state, shared.tile);
            match segments.block::<R, T, LANES>(operands.state, kind, numbered) {
                Some(block) => block,
                None => return segments.scan_short::<R, T, LANES>(operands, kind, numbered),
            }
        } else if shape.is_across != 0 {
            return scan_across::<R, T, LANES>(operands, kind, shape, shared);
        } else {
            block_of_rows::<R, T, LANES>(operands.state, kind, shape, shared.tile)
        };
        scan_block::<R, T, W, LANES, OUTPUTS>(operands, block, shared);
    }
}

/// What the block scans of contiguous lines of one length.
///
/// # Safety
/// 1. As for [`scan_lines`]. Only this block uses `ticket`.
#[inline(always)]
unsafe fn block_of_rows<'launch, R, T: Pod, const LANES: usize>(
    words: GlobalMut<'launch, u64>,
    kind: Kind<R::Accumulator>,
    shape: &ScanShape,
    ticket: SharedArray<u32, 1>,
) -> Block<'launch, R::Accumulator>
where
    R: Reduction<T, Accumulator: ScanValue>,
{
    let plan = ScanPlan::of::<R, T>(shape.len);
    // SAFETY: the words are the plan's for each line, 0 at the start, and only this launch uses them: the caller's
    // contract. With several tiles, the state has a ticket.
    unsafe {
        let state = State::new(words, plan);
        let block = match plan.tiles {
            1 => thread::block_idx_x() as usize,
            _ => take_tile(state, ticket),
        };
        Block {
            plan,
            state: state.of_row(block / plan.tiles),
            tile: block % plan.tiles,
            place: Place::of_rows::<LANES>(block, shape, &plan),
            kind,
        }
    }
}

/// Scans the elements of a block: a tile of a line, or several lines.
///
/// # Safety
/// 1. The place is one of `x` and `y`, and no other block has it.
/// 2. The launch has blocks of `SCAN_THREADS` threads along x. Tiles are tickets, if a line has several.
/// 3. Only this block uses `shared`, and `shared.staged` holds a tile.
/// 4. `LANES` elements are 16 bytes. `W` and `OUTPUTS` are what `outputs.rs` says for elements and
///    results.
#[inline(always)]
unsafe fn scan_block<R, T: Pod, W: StoreWay, const LANES: usize, const OUTPUTS: usize>(
    operands: Operands<T, R::Output>,
    block: Block<R::Accumulator>,
    shared: Shared<T, R::Accumulator>,
) where
    R: Reduction<T, Accumulator: ScanValue>,
{
    let (place, kind) = (block.place, block.kind);
    let tile = Tile {
        staged: shared.staged,
        place,
    };
    // SAFETY: the place is one of `x`. `shared.staged` holds a tile, and only this block uses it: the caller's contract.
    unsafe { tile.stage::<LANES>(operands.x) };
    if const { keeps_sums::<R, T, LANES>() } {
        // SAFETY: the caller's contract, and `stage` wrote the elements.
        unsafe { return scan_once::<R, T, W, LANES, OUTPUTS>(tile, operands.y, block, shared) };
    }
    let mut warp = kind.after_initial::<R, T>(R::IDENTITY);
    let mut writes = place.is_of_warp;
    // Once for the warp's sum, unless nothing precedes it, and once for the results: a loop, to have the code once.
    loop {
        let visit = |row: usize, prefixes: &[R::Accumulator; LANES], vector| {
            if !writes {
                return;
            }
            let before = Before {
                is_exclusive: kind.is_exclusive,
                warp,
                vector,
            };
            let (exists, first) = (|lane| place.has(row, lane), place.index_of(row, 0));
            let results = results_of::<R, T, LANES>(prefixes, before, exists, first);
            // SAFETY: the place is one of `y`, and no other thread has it: the caller's contract.
            unsafe { tile.store_vector::<_, W, LANES, OUTPUTS>(operands.y, row, results) };
        };
        // SAFETY: `stage` wrote the elements.
        let of_warp = unsafe { tile.walk::<R, LANES>(visit) };
        if writes {
            return;
        }
        // SAFETY: the launch, the tickets and the memory: the caller's contract.
        let in_line = unsafe { before_warp::<R, T>(block, of_warp, &shared) };
        warp = kind.after_initial::<R, T>(in_line);
        writes = true;
    }
}

//! Prefix sums of an array in one pass.
//!
//! ```text
//! each block:   take the next tile
//! each thread:  copy its vectors to shared memory
//! each warp:    scan the sums of its vectors by shuffles, row after row
//! each block:   add up the warps' sums; publish the tile's
//! one warp:     wait for the sums of the group's earlier tiles, and add them in a tree; after the
//!               group's last tile publish the group's
//! another:      wait for the sums of the span's earlier groups, and add them in a tree
//! one thread:   wait for the sum of all before the span
//! each block:   after the span's last tile publish the sum of all before the next one
//! each thread:  read its vectors again; add what comes before; store the sums
//! ```
//!
//! Departures from Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back
//! (2016), which CUB has:
//! 1. A tile never uses whatever sums happen to be ready: it waits for the sums of all earlier tiles of its group and
//!    of all earlier groups of its span. So the order of addition is fixed, and so are the bits of floats.
//! 2. The chain of prefixes has one link for each span of 1024 tiles. A link is one wait and one addition, since the
//!    span's own sum is ready by then.
//! 3. Elements wait for the preceding sums in shared memory, not in registers, and threads scan vectors as they were
//!    loaded, without a transpose.
//!
//! docs/reductions.md explains the design.
//!
//! `plan.rs` has the split, `state.rs` the communication between blocks, `tile.rs` the elements of a tile.

mod element;
mod plan;
mod state;
mod tile;

pub use element::ScanElement;
pub use plan::{FAN, SCAN_THREADS, SPAN_TILES, ScanPlan};

use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use plan::{ROW_THREADS, WARPS};
use state::State;
use tile::Place;

/// Calls the macro `$with` with all scans: the element type, and the entries of the inclusive and the exclusive scan,
/// as `f32: scan_inclusive_f32, scan_exclusive_f32;`. Signed integers are scanned as unsigned ones.
#[macro_export]
macro_rules! for_each_scan {
    ($with:ident) => {
        $with! {
            f32: scan_inclusive_f32, scan_exclusive_f32;
            f64: scan_inclusive_f64, scan_exclusive_f64;
            u32: scan_inclusive_u32, scan_exclusive_u32;
            u64: scan_inclusive_u64, scan_exclusive_u64;
        }
    };
}

/// The number of sums that precede a tile: of its group, its span, and all before.
const BEFORE: usize = 3;

/// The shared memory of a block.
struct Shared<'block, T> {
    /// The block's tile number.
    tile: SharedArray<'block, u32, 1>,
    /// The sum of each warp.
    of_warps: SharedArray<'block, T, WARPS>,
    /// The sums of the group's earlier tiles, of the span's earlier groups, and of everything before the span.
    before: SharedArray<'block, T, BEFORE>,
    /// The tile's elements.
    staged: SharedSlice<'block, T>,
}

/// Writes the prefix sums of `x` to `sums`.
///
/// # Safety
/// 1. The launch has blocks of `SCAN_THREADS` threads along x, and one for each tile.
/// 2. `sums` is as long as `x`.
/// 3. `words` are the plan's `state_words()`, all 0, and no other launch uses them meanwhile.
/// 4. Only this block uses `shared`, and `shared.staged` holds a tile.
#[inline(always)]
unsafe fn scan<T: ScanElement, const LANES: usize, const EXCLUSIVE: bool>(
    x: Global<T>,
    sums: GlobalMut<T>,
    words: GlobalMut<u64>,
    shared: Shared<T>,
) {
    let plan = ScanPlan::new(x.len(), size_of::<T>());
    // SAFETY: the words are the plan's, 0 at the start, and only this launch uses them: the
    // caller's contract.
    let state = unsafe { State::new(words, plan) };
    let is_one_tile = thread::grid_dim_x() == 1;
    let tile = if is_one_tile {
        0
    } else {
        // SAFETY: only this block uses the memory: the caller's contract. With several tiles, the
        // state has a ticket.
        unsafe { take_tile(state, shared.tile) }
    };
    let place = Place::of_thread::<LANES>(tile, x.len());
    // SAFETY: `place` was made of the length of `x`. `shared.staged` holds a tile, and only this block uses it: the
    // caller's contract. `stage` writes the elements that `scan_warp` reads.
    let (in_warp, of_warp) = unsafe {
        tile::stage::<T, LANES>(x, shared.staged, place);
        tile::scan_warp::<T, LANES>(shared.staged, place)
    };
    // SAFETY: only this block uses the memory, and blocks have `SCAN_THREADS` threads: the caller's contract.
    // `add_warps` returns the same `of_tile` to all threads. Tiles are tickets.
    let before = unsafe {
        let (before_warp, of_tile) = add_warps(of_warp, shared.of_warps);
        let before_tile = if is_one_tile {
            T::ZERO
        } else {
            sum_before(state, plan, (tile, of_tile), &shared)
        };
        before_tile.plus(before_warp)
    };
    let before = (before, &in_warp);
    // SAFETY: `sums` is as long as `x`: the caller's contract. Each tile belongs to one block.
    // `stage` wrote the elements.
    unsafe { tile::store::<T, LANES, EXCLUSIVE>(sums, shared.staged, place, before) };
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
unsafe fn add_warps<T: ScanElement>(of_warp: T, shared: SharedArray<T, WARPS>) -> (T, T) {
    let thread = thread::thread_idx_x();
    let own = tile::warp_of(thread);
    if thread.is_multiple_of(ROW_THREADS) {
        // SAFETY: the array has an element for each warp. One thread writes it, before the barrier.
        unsafe { shared.store(own, of_warp) };
    }
    thread::sync_threads();
    let (mut before, mut total) = (T::ZERO, T::ZERO);
    let mut warp = 0;
    while warp < WARPS {
        if warp == own {
            before = total;
        }
        // SAFETY: every warp wrote its element before the barrier above.
        total = total.plus(unsafe { shared.load(warp) });
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
unsafe fn sum_before<T: ScanElement>(
    state: State,
    plan: ScanPlan,
    (tile, of_tile): (usize, T),
    shared: &Shared<T>,
) -> T {
    let thread = thread::thread_idx_x();
    let (row, slot) = (tile::warp_of(thread), (thread % ROW_THREADS) as usize);
    let (group, of_group) = (tile / FAN, tile % FAN);
    let (span, of_span) = (group / FAN, group % FAN);
    if thread == 0 {
        // SAFETY: the state has the tile: tiles are tickets, by the caller's contract.
        unsafe { state.publish(state.of_tile::<T>(tile), of_tile) };
    }
    let awaited = match row {
        0 if slot < of_group => Some(state.of_tile::<T>(group * FAN + slot)),
        1 if slot < of_span => Some(state.of_group::<T>(span * FAN + slot)),
        2 if slot == 0 && span > 0 => Some(state.before_span::<T>(span)),
        _ => None,
    };
    let sum = match awaited {
        // SAFETY: blocks with lower tickets have started. They publish the sums of their tiles, and of the groups and
        // spans that these complete.
        Some(place) => unsafe { state.wait_for(place) },
        None => T::ZERO,
    };
    let sum = tile::sum_of_row(sum);
    if slot == 0 && row < BEFORE {
        // SAFETY: `before` has an element for each of these rows. One thread writes it, before the
        // barrier.
        unsafe { shared.before.store(row, sum) };
    }
    if thread == 0 && of_group == FAN - 1 {
        // SAFETY: the group exists: the tile is in it.
        unsafe { state.publish(state.of_group::<T>(group), sum.plus(of_tile)) };
    }
    thread::sync_threads();
    // SAFETY: all three elements were written before the barrier above.
    let (in_group, in_span, before_span) = unsafe {
        let before = shared.before;
        (before.load(0), before.load(1), before.load(2))
    };
    let is_last = tile % SPAN_TILES == SPAN_TILES - 1;
    if thread == 0 && is_last && span + 1 < plan.spans() {
        let of_span = in_span.plus(in_group.plus(of_tile));
        // SAFETY: the span exists: compared above.
        unsafe { state.publish(state.before_span::<T>(span + 1), before_span.plus(of_span)) };
    }
    before_span.plus(in_span).plus(in_group)
}

macro_rules! scan_kernels {
    ($($element:ident: $inclusive:ident, $exclusive:ident;)*) => {$(
        scan_kernels!(@bounded $inclusive, $element, false, "up to and including");
        scan_kernels!(@bounded $exclusive, $element, true, "before");
    )*};
    // The tiles of six blocks fill the shared memory. With 64-bit elements, the sums before each of a thread's
    // vectors leave registers for five blocks, with f64 for four.
    (@bounded $name:ident, f64, $exclusive:literal, $which:literal) => {
        scan_kernels!(@kernel $name, f64, $exclusive, $which, 4);
    };
    (@bounded $name:ident, u64, $exclusive:literal, $which:literal) => {
        scan_kernels!(@kernel $name, u64, $exclusive, $which, 5);
    };
    (@bounded $name:ident, $element:ident, $exclusive:literal, $which:literal) => {
        scan_kernels!(@kernel $name, $element, $exclusive, $which, 6);
    };
    (@kernel $name:ident, $element:ident, $exclusive:literal, $which:literal, $blocks:literal) => {
        #[doc = concat!("Prefix sums of an array of ", stringify!($element),
            ": for each element, the sum of all ", $which, " it.")]
        ///
        /// # Safety
        /// 1. The launch has blocks of [`SCAN_THREADS`] threads along x, and one for each tile of the
        ///    [`ScanPlan`] of `x`.
        /// 2. `sums` is as long as `x`.
        /// 3. `state` has the plan's words, all 0, and no other launch uses them meanwhile. The launch does not reset
        ///    them.
        #[kernel(max_threads = 128, min_blocks = $blocks)]
        pub unsafe fn $name(
            x: Global<$element>,
            sums: GlobalMut<$element>,
            state: GlobalMut<u64>,
        ) {
            const LANES: usize = 16 / size_of::<$element>();
            let staged = shared_array![
                $element; ScanPlan::new(0, size_of::<$element>()).tile
            ];
            let shared = Shared {
                tile: shared_array![u32; 1],
                of_warps: shared_array![$element; WARPS],
                before: shared_array![$element; BEFORE],
                staged: staged.as_slice(),
            };
            // SAFETY: the launch, the lengths and the state: the caller's contract. Shared memory
            // is declared here, and `staged` holds a tile.
            unsafe { scan::<$element, LANES, $exclusive>(x, sums, state, shared) }
        }
    };
}
for_each_scan!(scan_kernels);

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
//! 1. A tile never takes what another one happens to have ready: it waits for the sums of all earlier
//!    tiles of its group and of all earlier groups of its span. What is added to what is fixed, and so are
//!    the bits of floats.
//! 2. The chain of prefixes has a link for each span of 1024 tiles, and a link is one addition behind
//!    one wait, as the span's own sum is ready by then.
//! 3. Elements wait in shared memory for the sums before them, not in registers, and threads scan vectors
//!    where they were loaded: nothing is transposed.
//!
//! docs/reductions.md has the steps that led here.
//!
//! `plan.rs` has the split, `state.rs` what blocks tell each other, `tile.rs` the elements.

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

/// Calls the macro `$with` with all scans: the type of the elements, and the entries of the inclusive
/// and of the exclusive one, as `f32: scan_inclusive_f32, scan_exclusive_f32;`. Signed integers are
/// scanned as unsigned ones.
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

/// Sums that come before a tile.
const BEFORE: usize = 3;

/// The shared memory of a block.
struct Shared<'block, T> {
    /// The number of the block's tile.
    tile: SharedArray<'block, u32, 1>,
    /// The sum of each warp.
    of_warps: SharedArray<'block, T, WARPS>,
    /// The sums of the group's earlier tiles, of the span's earlier groups, and of all before the span.
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
/// 4. `shared` is the block's own, and `shared.staged` has room for a tile.
#[inline(always)]
unsafe fn scan<T: ScanElement, const LANES: usize, const EXCLUSIVE: bool>(
    x: Global<T>,
    sums: GlobalMut<T>,
    words: GlobalMut<u64>,
    shared: Shared<T>,
) {
    let plan = ScanPlan::new(x.len(), size_of::<T>());
    // SAFETY: (1) is (3).
    let state = unsafe { State::new(words, plan) };
    let is_one_tile = thread::grid_dim_x() == 1;
    let tile = if is_one_tile {
        0
    } else {
        // SAFETY: (1) is (4), and there is a state for several tiles, by (3).
        unsafe { take_tile(state, shared.tile) }
    };
    let place = Place::of_thread::<LANES>(tile, x.len());
    // SAFETY: of `stage` (1) it is made of the length of `x`, and (2) is (4). Of `scan_warp` (1) is `stage`.
    let (in_warp, of_warp) = unsafe {
        tile::stage::<T, LANES>(x, shared.staged, place);
        tile::scan_warp::<T, LANES>(shared.staged, place)
    };
    // SAFETY: of `add_warps` (1) is (4). Of `sum_before` (1) is (1), (2) `add_warps` gives it, and (3) is
    // (4).
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
    // SAFETY: (1) is (2). (2) A tile is one block's. (3) is `stage`.
    unsafe { tile::store::<T, LANES, EXCLUSIVE>(sums, shared.staged, place, before) };
}

/// The next tile, for all threads of the block.
///
/// # Safety
/// 1. `shared` is the block's own, and used for nothing else.
#[inline(always)]
unsafe fn take_tile(state: State, shared: SharedArray<u32, 1>) -> usize {
    if thread::thread_idx_x() == 0 {
        // SAFETY: (1) one element. (2) One thread writes it, before the barrier.
        unsafe { shared.store(0, state.take_ticket()) };
    }
    thread::sync_threads();
    // SAFETY: (1) one element, written by thread 0. (2) The barrier above.
    unsafe { shared.load(0) as usize }
}

/// The sum of the warps before the calling thread's, and of all warps.
///
/// # Safety
/// 1. `shared` is the block's own, and used for nothing else.
#[inline(always)]
unsafe fn add_warps<T: ScanElement>(of_warp: T, shared: SharedArray<T, WARPS>) -> (T, T) {
    let thread = thread::thread_idx_x();
    let own = tile::warp_of(thread);
    if thread.is_multiple_of(ROW_THREADS) {
        // SAFETY: (1) there is an element for each warp. (2) One thread writes it, before the barrier.
        unsafe { shared.store(own, of_warp) };
    }
    thread::sync_threads();
    let (mut before, mut total) = (T::ZERO, T::ZERO);
    let mut warp = 0;
    while warp < WARPS {
        if warp == own {
            before = total;
        }
        // SAFETY: (1) every warp has written its own. (2) The barrier above.
        total = total.plus(unsafe { shared.load(warp) });
        warp += 1;
    }
    (before, total)
}

/// The sum of all elements before a tile, once the blocks have published what it adds up; publishes the
/// sums that the tile completes.
///
/// # Safety
/// 1. The launch has blocks of `SCAN_THREADS` threads, and tickets are tiles.
/// 2. `of_tile` is the same in all threads.
/// 3. `shared` is the block's own, and `shared.before` is used for nothing else.
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
        // SAFETY: (1) tickets are tiles, by (1).
        unsafe { state.publish(state.of_tile::<T>(tile), of_tile) };
    }
    let awaited = match row {
        0 if slot < of_group => Some(state.of_tile::<T>(group * FAN + slot)),
        1 if slot < of_span => Some(state.of_group::<T>(span * FAN + slot)),
        2 if slot == 0 && span > 0 => Some(state.before_span::<T>(span)),
        _ => None,
    };
    let sum = match awaited {
        // SAFETY: (1) blocks with lower tickets have started: they publish the sums of their tiles, and of
        // the groups and spans that these complete.
        Some(place) => unsafe { state.wait_for(place) },
        None => T::ZERO,
    };
    let sum = tile::sum_of_row(sum);
    if slot == 0 && row < BEFORE {
        // SAFETY: (1) there is one for each such row. (2) One thread writes it, before the barrier.
        unsafe { shared.before.store(row, sum) };
    }
    if thread == 0 && of_group == FAN - 1 {
        // SAFETY: (1) the tile is one of the group.
        unsafe { state.publish(state.of_group::<T>(group), sum.plus(of_tile)) };
    }
    thread::sync_threads();
    // SAFETY: (1) three elements, all written. (2) The barrier above.
    let (in_group, in_span, before_span) = unsafe {
        let before = shared.before;
        (before.load(0), before.load(1), before.load(2))
    };
    let is_last = tile % SPAN_TILES == SPAN_TILES - 1;
    if thread == 0 && is_last && span + 1 < plan.spans() {
        let of_span = in_span.plus(in_group.plus(of_tile));
        // SAFETY: (1) the comparison.
        unsafe { state.publish(state.before_span::<T>(span + 1), before_span.plus(of_span)) };
    }
    before_span.plus(in_span).plus(in_group)
}

macro_rules! scan_kernels {
    ($($element:ident: $inclusive:ident, $exclusive:ident;)*) => {$(
        scan_kernels!(@bounded $inclusive, $element, false, "up to and with");
        scan_kernels!(@bounded $exclusive, $element, true, "before");
    )*};
    // The tiles of six blocks fill the shared memory. Of 64 bits, what comes before each of a thread's
    // vectors takes the registers of five, and of floats of four.
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
        #[doc = concat!("Of each element of an array of ", stringify!($element),
            " the sum of all ", $which, " it.")]
        ///
        /// # Safety
        /// 1. The launch has blocks of [`SCAN_THREADS`] threads along x, and one for each tile of the
        ///    [`ScanPlan`] of `x`.
        /// 2. `sums` is as long as `x`.
        /// 3. `state` has the plan's words, all 0, and no other launch uses them meanwhile. They are not
        ///    0 afterwards.
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
            // SAFETY: (1), (2), (3) are the launch's. (4) It is declared here.
            unsafe { scan::<$element, LANES, $exclusive>(x, sums, state, shared) }
        }
    };
}
for_each_scan!(scan_kernels);

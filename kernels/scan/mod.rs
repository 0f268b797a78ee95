//! Prefix sums of an array in one pass.
//!
//! ```text
//! each block:   take the next tile; load it
//! each warp:    scan its rows of vectors by shuffles, row after row
//! each block:   add up the warps' sums; publish the tile's
//!               wait for the sums of the group's earlier tiles, and add them in a tree
//!               wait for the sum of all before the group; the group's last tile publishes the next
//! each thread:  add what comes before to its elements; store them
//! ```
//!
//! Departures from Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back
//! (2016), which CUB has:
//! 1. A tile never takes what another one happens to have ready: it waits for the sums of all earlier
//!    tiles of its group, one for each thread, and for the prefix of the group. What is added to what
//!    is fixed, and so are the bits of floats.
//! 2. The chain of prefixes has a link for each group of 256 tiles, and a link is one addition behind
//!    one wait, as the group's own sum is ready by then.
//! 3. Threads scan vectors where they were loaded: nothing is transposed in shared memory.
//!
//! `plan.rs` has the split, `state.rs` what blocks tell each other, `tile.rs` a thread's elements.

mod plan;
mod state;
mod summand;
mod tile;

pub use plan::{GROUP_TILES, SCAN_THREADS, ScanPlan};
pub use summand::Summand;

use cuda_std::block::{self, ReduceScratch};
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;
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

/// The shared memory of a block.
struct Shared<'block, T> {
    /// The block's tile.
    tile: SharedArray<'block, u32, 1>,
    /// The sum of each warp.
    of_warps: SharedArray<'block, T, WARPS>,
    scratch: ReduceScratch<'block, T>,
    /// The sum of all before the group, and that of all before the tile.
    before: SharedArray<'block, T, 2>,
}

/// Writes the prefix sums of `x` to `sums`.
///
/// # Safety
/// 1. The launch has blocks of `SCAN_THREADS` threads along x, and one for each tile.
/// 2. `sums` is as long as `x`.
/// 3. `words` are the plan's `state_words()`, all 0, and no other launch uses them meanwhile.
/// 4. `shared` is the block's own.
#[inline(always)]
unsafe fn scan<T: Summand, const LANES: usize, const EXCLUSIVE: bool>(
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
    let mut rows = tile::load::<T, LANES>(x, Place::of_thread::<LANES>(tile, x.len()));
    let of_warp = tile::scan_warp::<T, LANES, EXCLUSIVE>(&mut rows);
    // SAFETY: of `add_warps` (1) is (4). Of `sum_before` (1) is (1), (2) `add_warps` gives it, and (3) is
    // (4).
    let before = unsafe {
        let (before_warp, of_tile) = add_warps(of_warp, shared.of_warps);
        let before_tile = if is_one_tile {
            T::ZERO
        } else {
            sum_before(state, plan, tile, of_tile, &shared)
        };
        before_tile.plus(before_warp)
    };
    // Computed anew: the registers in between are the elements'.
    let place = Place::of_thread::<LANES>(opaque_size(tile), x.len());
    // SAFETY: (1) is (2). (2) A tile is one block's.
    unsafe { tile::store(sums, place, &rows, before) };
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
unsafe fn add_warps<T: Summand>(of_warp: T, shared: SharedArray<T, WARPS>) -> (T, T) {
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

/// The sum of all elements before a tile, once the tiles before have published theirs; publishes the
/// tile's, and that of all before the next group.
///
/// # Safety
/// 1. The launch has blocks of `SCAN_THREADS` threads, and tickets are tiles.
/// 2. `of_tile` is the same in all threads.
/// 3. `shared` is the block's own, and its last two arrays are used for nothing else.
#[inline(always)]
unsafe fn sum_before<T: Summand>(
    state: State,
    plan: ScanPlan,
    tile: usize,
    of_tile: T,
    shared: &Shared<T>,
) -> T {
    let thread = thread::thread_idx_x() as usize;
    let (group, own) = (tile / GROUP_TILES, tile % GROUP_TILES);
    let (is_first, is_last) = (thread == 0, thread == SCAN_THREADS as usize - 1);
    if is_first {
        // SAFETY: (1) tickets are tiles, by (1).
        unsafe { state.publish_tile(tile, of_tile) };
    }
    let mut of_slot = T::ZERO;
    if thread < own {
        // SAFETY: (1) blocks with lower tickets have started.
        of_slot = unsafe { state.wait_for_tile(group * GROUP_TILES + thread) };
    }
    // The last thread has no tile to wait for: at most 255 come before one in its group.
    if is_last {
        let before_group = if group == 0 {
            T::ZERO
        } else {
            // SAFETY: (1) the last tile of the group before has a lower ticket.
            unsafe { state.wait_for_group(group) }
        };
        // SAFETY: (1) two elements. (2) One thread writes it, before the barrier in `block::reduce`.
        unsafe { shared.before.store(0, before_group) };
    }
    // SAFETY: (1) 256 threads are whole warps of 32 or 64. (2) The scratch is used here alone, by (3).
    let in_group = unsafe { block::reduce(of_slot, T::ZERO, shared.scratch, T::plus) };
    if is_first {
        // SAFETY: (1) two elements, of which the last thread has written the first. (2) The barrier in
        // `block::reduce`, and the one below. Of `publish_group` (1) is the comparison.
        unsafe {
            let before_group = shared.before.load(0);
            if own == GROUP_TILES - 1 && group + 1 < plan.groups() {
                state.publish_group(group + 1, before_group.plus(in_group.plus(of_tile)));
            }
            shared.before.store(1, before_group.plus(in_group));
        }
    }
    thread::sync_threads();
    // SAFETY: (1) two elements, both written. (2) The barrier above.
    unsafe { shared.before.load(1) }
}

macro_rules! scan_kernels {
    ($($element:ident: $inclusive:ident, $exclusive:ident;)*) => {$(
        scan_kernels!(@bounded $inclusive, $element, false, "up to and with");
        scan_kernels!(@bounded $exclusive, $element, true, "before");
    )*};
    // Of 32 bits an element's vectors, sums and all else take 64 registers, of 64 bits up to 80.
    (@bounded $name:ident, f32, $exclusive:literal, $which:literal) => {
        scan_kernels!(@kernel $name, f32, $exclusive, $which, 4);
    };
    (@bounded $name:ident, u32, $exclusive:literal, $which:literal) => {
        scan_kernels!(@kernel $name, u32, $exclusive, $which, 4);
    };
    (@bounded $name:ident, $element:ident, $exclusive:literal, $which:literal) => {
        scan_kernels!(@kernel $name, $element, $exclusive, $which, 3);
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
        #[kernel(max_threads = 256, min_blocks = $blocks)]
        pub unsafe fn $name(
            x: Global<$element>,
            sums: GlobalMut<$element>,
            state: GlobalMut<u64>,
        ) {
            const LANES: usize = 16 / size_of::<$element>();
            let shared = Shared {
                tile: shared_array![u32; 1],
                of_warps: shared_array![$element; WARPS],
                scratch: shared_array![$element; block::MAX_WARPS],
                before: shared_array![$element; 2],
            };
            // SAFETY: (1), (2), (3) are the launch's. (4) It is declared here.
            unsafe { scan::<$element, LANES, $exclusive>(x, sums, state, shared) }
        }
    };
}
for_each_scan!(scan_kernels);

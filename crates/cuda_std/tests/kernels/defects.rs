//! Kernels with one bug each. The simulator must report it at the marked line, in the thread that
//! the launch chooses. They never run on a GPU.
//!
//! Each test searches this file for `defect: NAME` to find the line.

use cuda_std::dependent_launch;
use cuda_std::prelude::*;

/// Whether the calling thread is the one with the bug: thread `thread` of block `block`.
#[inline(always)]
fn is_chosen(block: u32, thread: u32) -> bool {
    thread::block_idx_x() == block && thread::rank_in_block() == thread
}

global_array! {
    /// The total of [`static_array_race`].
    pub static TOTAL: [f32; 1] = [0.0];
}

/// Each thread adds to the same element, without ordering.
///
/// # Safety
/// 1. The launch is in the simulator.
#[kernel]
pub unsafe fn static_array_race() {
    // SAFETY: none: the simulator reports the second access.
    TOTAL.with(|total| unsafe {
        let sum = total.load(0) + 1.0; // defect: static_array_race
        total.store(0, sum); // defect: static_array_race
    });
}

/// Reads before the earlier launches have ended.
///
/// # Safety
/// 1. The launch is in the simulator.
#[kernel(arch = "sm_90", dependent_launch)]
pub unsafe fn load_before_wait(block: u32, thread: u32, x: Global<f32>, _y: GlobalMut<f32>) {
    if !is_chosen(block, thread) {
        dependent_launch::wait();
    }
    // SAFETY: none: the simulator reports the access before it is performed.
    let _ = unsafe { x.load(0) }; // defect: load_before_wait
}

/// Writes before the earlier launches have ended.
///
/// # Safety
/// 1. The launch is in the simulator.
#[kernel(arch = "sm_90", dependent_launch)]
pub unsafe fn store_before_wait(block: u32, thread: u32, _x: Global<f32>, y: GlobalMut<f32>) {
    if is_chosen(block, thread) {
        // SAFETY: none: the simulator reports the access before it is performed.
        unsafe { y.store(0, 2.0) }; // defect: store_before_wait
    }
    dependent_launch::wait();
}

macro_rules! accesses {
    ($($(#[$meta:meta])* $name:ident($x:ident, $y:ident) $access:block)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// 1. The launch is in the simulator.
        #[kernel]
        pub unsafe fn $name(block: u32, thread: u32, $x: Global<f32>, $y: GlobalMut<f32>) {
            let _ = ($x, $y);
            if is_chosen(block, thread) {
                // SAFETY: none: the simulator reports the access before it is performed.
                unsafe { $access };
            }
        }
    )*};
}
accesses! {
    /// Reads past the end.
    load_behind_end(x, y) {
        let _ = x.load(x.len()); // defect: load_behind_end
    }
    /// Reads past the end through the mutable view.
    mutable_load_behind_end(x, y) {
        let _ = y.load(y.len()); // defect: mutable_load_behind_end
    }
    /// Writes past the end.
    store_behind_end(x, y) {
        y.store(y.len() + 3, 1.0); // defect: store_behind_end
    }
    /// Reads at an index whose offset in bytes overflows.
    load_far_away(x, y) {
        let _ = x.load(usize::MAX); // defect: load_far_away
    }
    /// Reads a vector whose last element is past the end.
    vector_load_behind_end(x, y) {
        let _ = x.load_vector::<4>(x.len() / 4 * 4); // defect: vector_load_behind_end
    }
    /// Writes a vector whose last element is past the end.
    vector_store_behind_end(x, y) {
        y.store_vector::<4>(y.len() / 4 * 4, [0.0; 4]); // defect: vector_store_behind_end
    }
    /// Reads a stream past the end.
    stream_behind_end(x, y) {
        let _ = x.load_streaming::<2>(x.len() + 1); // defect: stream_behind_end
    }
    /// Reads through L2 past the end.
    cached_behind_end(x, y) {
        let _ = y.load_cached_l2::<1>(y.len()); // defect: cached_behind_end
    }
    /// Writes past the end of a static array.
    static_array_behind_end(x, y) {
        TOTAL.with(|total| total.store(1, 0.0)); // defect: static_array_behind_end
    }
    /// Reads a vector across its alignment.
    misaligned_vector_load(x, y) {
        let _ = x.load_vector::<4>(2); // defect: misaligned_vector_load
    }
    /// Writes a vector across its alignment.
    misaligned_vector_store(x, y) {
        y.store_vector::<2>(1, [0.0; 2]); // defect: misaligned_vector_store
    }
    /// Adds past the end.
    atomic_behind_end(x, y) {
        let _ = y.atomic_add(y.len(), 1.0); // defect: atomic_behind_end
    }
    /// Reads past the end of a shared array.
    shared_load_behind_end(x, y) {
        let _ = shared_array![f32; 7].load(7); // defect: shared_load_behind_end
    }
    /// Writes past the end of a shared array.
    shared_store_behind_end(x, y) {
        shared_array![f32; 7].store(8, 0.0); // defect: shared_store_behind_end
    }
    /// Reads a shared vector across its alignment.
    misaligned_shared_load(x, y) {
        let _ = shared_array![f32; 8].load_vector::<4>(1); // defect: misaligned_shared_load
    }
    /// Adds past the end of a shared array.
    shared_atomic_behind_end(x, y) {
        let _ = shared_array![f32; 1].atomic_add(1, 1.0); // defect: shared_atomic_behind_end
    }
    /// Writes to a tile's padding, which the storage contains.
    store_to_padding(x, y) {
        shared_tile![f32; 4, 4; pitch = 8].store(1, 4, 0.0); // defect: store_to_padding
    }
    /// Reads from a row that a tile does not have.
    load_below_tile(x, y) {
        let _ = shared_tile![f32; 4, 4].load(4, 0); // defect: load_below_tile
    }
    /// Reads a vector that leaves its row.
    vector_leaves_row(x, y) {
        let _ = shared_tile![f32; 4, 6; pitch = 8].load_vector::<4>(0, 4); // defect: vector_leaves_row
    }
    /// Uses dynamic shared memory that the launch did not request.
    dynamic_memory_is_missing(x, y) {
        dynamic_shared![f32].store(0, 1.0); // defect: dynamic_memory_is_missing
    }
    /// Copies from past the end.
    copy_from_behind_end(x, y) {
        let tile = shared_array![f32; 4];
        Pipeline::<2>::new().copy::<f32, 4>(tile.as_slice(), 0, x, x.len() / 4 * 4); // defect: copy_from_behind_end
    }
    /// Copies to past the end.
    copy_to_behind_end(x, y) {
        let tile = shared_array![f32; 4];
        Pipeline::<2>::new().copy::<f32, 1>(tile.as_slice(), 4, x, 0); // defect: copy_to_behind_end
    }
    /// Copies across the source's alignment.
    misaligned_copy(x, y) {
        let tile = shared_array![f32; 8];
        Pipeline::<2>::new().copy::<f32, 2>(tile.as_slice(), 2, x, 3); // defect: misaligned_copy
    }
    /// Copies across the destination's alignment.
    copy_to_misaligned(x, y) {
        let tile = shared_array![f32; 8];
        Pipeline::<2>::new().copy_or_zero::<f32, 4>(tile.as_slice(), 2, x, 4, 1); // defect: copy_to_misaligned
    }
    /// Claims more source elements of a partial copy than exist.
    copy_of_too_many(x, y) {
        let tile = shared_array![f32; 8];
        let from = x.len() / 4 * 4;
        Pipeline::<2>::new().copy_or_zero::<f32, 4>(tile.as_slice(), 0, x, from, x.len() - from + 1); // defect: copy_of_too_many
    }
}

/// One thread returns before the barrier at which all others wait.
#[kernel]
pub fn barrier_after_return(block: u32, thread: u32) {
    if is_chosen(block, thread) {
        return;
    }
    thread::sync_threads(); // defect: barrier_after_return
}

/// A lane waits at one barrier in the code, the rest of its warp at another.
#[kernel]
#[allow(
    clippy::if_same_then_else,
    reason = "a place in the code is what a barrier is"
)]
pub fn barrier_in_branch(block: u32, thread: u32) {
    if is_chosen(block, thread) {
        thread::sync_threads(); // defect: barrier_in_branch
    } else {
        thread::sync_threads(); // defect: barrier_in_branch
    }
}

/// A barrier for a part of the block that is not a whole number of warps.
#[kernel]
pub fn barrier_of_half_a_warp(block: u32, thread: u32) {
    if is_chosen(block, thread) {
        thread::named_barrier_sync(1, 16); // defect: barrier_of_half_a_warp
    }
}

/// The last warp waits for all warps of the block. The others arrive, except for the chosen thread's.
#[kernel]
pub fn arrival_is_missing(block: u32, thread: u32) {
    let own = warp::warp_in_block();
    let warps = thread::block_size().div_ceil(warp::width());
    let threads = warps * warp::width();
    if thread::block_idx_x() == block && thread / warp::width() == own {
        return;
    }
    if own + 1 < warps {
        thread::named_barrier_arrive(1, threads); // defect: arrival_is_missing
    } else {
        thread::named_barrier_sync(1, threads); // defect: arrival_is_missing
    }
}

/// A warp-wide operation with one bug, by the lanes of the chosen thread's warp.
macro_rules! warp_operations {
    ($($(#[$meta:meta])* $name:ident($mask:ident, $lane:ident) $operation:block)*) => {$(
        $(#[$meta])*
        #[kernel]
        pub fn $name(block: u32, thread: u32) {
            let ($mask, $lane) = (LaneMask::first(16), warp::lane());
            let same_warp = thread / warp::width() == warp::warp_in_block();
            if thread::block_idx_x() == block && same_warp && $mask.contains($lane) {
                $operation
            }
        }
    )*};
}
warp_operations! {
    /// Reads a lane that the mask does not name: lane 0 alone does.
    shuffle_outside_mask(mask, lane) {
        let from = if lane == 0 { 16 } else { lane };
        let _ = warp::shuffle(mask, lane, from); // defect: shuffle_outside_mask
    }
    /// Votes with a mask that does not name the voter.
    vote_outside_mask(mask, lane) {
        let mask = LaneMask::from_bits(mask.bits() & !1);
        if lane == 0 {
            let _ = warp::ballot(mask, true); // defect: vote_outside_mask
        }
    }
    /// Names a lane that has exited: lane 1 waits for lane 0.
    vote_with_exited_lane(mask, lane) {
        if lane == 0 {
            return;
        }
        thread::yield_now();
        thread::yield_now();
        let _ = warp::any(mask, true); // defect: vote_with_exited_lane
    }
    /// Lanes of one mask call two different operations.
    two_operations(mask, lane) {
        if lane == 0 {
            warp::sync(mask); // defect: two_operations
        } else {
            let _ = warp::match_any(mask, lane); // defect: two_operations
        }
    }
    /// Segments whose length is not a power of two.
    segments_of_three(mask, lane) {
        let _ = warp::shuffle_down_in(mask, lane, 1, 3); // defect: segments_of_three
    }
    /// A distance over a whole warp, where a GPU would wrap around.
    shuffle_too_far(mask, lane) {
        let _ = warp::shuffle_up(mask, lane, warp::width()); // defect: shuffle_too_far
    }
}

//! Barriers and fences.

use simt::{BarrierId, DefectKind, MemoryScope};

/// The barrier of [`block_barrier_count`].
const COUNTING: u32 = 15;

/// A barrier at which nothing is counted.
#[track_caller]
fn named(id: u32) -> BarrierId {
    if id == COUNTING {
        let message = "barrier 15, which counts predicates: named barriers are 1 to 14";
        simt::fail(DefectKind::InvalidArgument, message.to_owned());
    }
    BarrierId(id)
}

/// Waits for every thread of the block.
#[track_caller]
pub fn block_barrier() {
    simt::block_barrier(BarrierId(0), None);
}

/// Waits at barrier `id` for `threads` threads of the block.
#[track_caller]
pub fn block_barrier_part(id: u32, threads: u32) {
    simt::block_barrier(named(id), Some(threads));
}

/// Arrives at barrier `id` for `threads` threads of the block, and does not wait.
#[track_caller]
pub fn block_barrier_arrive(id: u32, threads: u32) {
    simt::block_barrier_arrive(named(id), threads);
}

/// Waits for every thread of the block and counts those whose predicate is true.
#[track_caller]
pub fn block_barrier_count(predicate: bool) -> u32 {
    simt::block_barrier_reduce(BarrierId(COUNTING), None, predicate)
}

/// Waits for the lanes of `mask`.
#[track_caller]
pub fn warp_barrier(mask: u64) {
    simt::warp_barrier(mask);
}

/// Orders this thread's accesses for the threads of a scope, and such fences among each other.
pub fn fence_seq_cst(scope: MemoryScope) {
    simt::fence(scope);
}

/// Orders this thread's accesses for the threads of a scope.
pub fn fence_acq_rel(scope: MemoryScope) {
    simt::fence_acq_rel(scope);
}

/// Lets other warps run.
#[track_caller]
pub fn yield_now() {
    simt::yield_now();
}

/// Waits for every thread of the grid.
///
/// # Safety
/// 1. None: the simulator reports a launch that is not cooperative.
#[track_caller]
pub unsafe fn grid_barrier() {
    simt::grid_barrier();
}

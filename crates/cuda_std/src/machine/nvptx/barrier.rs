//! Barriers and fences (PTX ISA, 9.7.12.1 to 9.7.12.3).
//!
//! Block barriers are the instructions without `.aligned`: the lanes of a warp may arrive separately, as after a
//! divergent branch. With `.aligned`, as in `bar.sync`, that is undefined in PTX.

use super::atomic::{AtomicInteger, AtomicSpace, AtomicWord, MemoryScope};
use super::intrinsics::intrinsics;
use super::position::{
    grid_dim_x, grid_dim_y, grid_dim_z, thread_idx_x, thread_idx_y, thread_idx_z,
};
use core::arch::asm;
use core::cell::UnsafeCell;

intrinsics! {
    fn barrier_sync_all(id: i32) = "llvm.nvvm.barrier.cta.sync.all";
    fn barrier_arrive_count(id: i32, threads: i32) = "llvm.nvvm.barrier.cta.arrive.count";
    fn barrier_sync_count(id: i32, threads: i32) = "llvm.nvvm.barrier.cta.sync.count";
    fn bar_warp_sync(mask: i32) = "llvm.nvvm.bar.warp.sync";
    fn membar_cta() = "llvm.nvvm.membar.cta";
    fn membar_gl() = "llvm.nvvm.membar.gl";
    fn membar_sys() = "llvm.nvvm.membar.sys";
}

/// Waits for every thread of the block.
#[inline(always)]
pub fn block_barrier() {
    // SAFETY: a barrier accesses no memory. If a thread does not reach it, the GPU waits for ever,
    // which is not unsound.
    unsafe { barrier_sync_all(0) }
}

/// Waits at barrier `id` for `threads` threads of the block.
#[inline(always)]
pub fn block_barrier_part(id: u32, threads: u32) {
    // SAFETY: as for `block_barrier`.
    unsafe { barrier_sync_count(number(id), whole_warps(threads)) }
}

/// Arrives at barrier `id` for `threads` threads of the block, and does not wait.
#[inline(always)]
pub fn block_barrier_arrive(id: u32, threads: u32) {
    // SAFETY: as for `block_barrier`.
    unsafe { barrier_arrive_count(number(id), whole_warps(threads)) }
}

/// Maps any `id` to one of the barriers that do not count: PTX has 16, and the last one counts.
#[inline(always)]
fn number(id: u32) -> i32 {
    id.min(14) as i32
}

/// Rounds to a number of threads that a barrier can wait for: a positive multiple of the warp's
/// width.
#[inline(always)]
fn whole_warps(threads: u32) -> i32 {
    (threads / 32 * 32).max(32) as i32
}

/// Waits for every thread of the block and counts those whose predicate is true.
///
/// At a barrier of its own: what happens where `barrier.red` and `barrier.sync` meet at one, PTX does not say.
#[inline(always)]
pub fn block_barrier_count(predicate: bool) -> u32 {
    let count: u32;
    // SAFETY: as for `block_barrier`; the count goes to a register.
    unsafe {
        asm!(
            "{{",
            ".reg .pred %predicate;",
            "setp.ne.u32 %predicate, {predicate}, 0;",
            "barrier.red.popc.u32 {count}, 15, %predicate;",
            "}}",
            predicate = in(reg32) u32::from(predicate),
            count = out(reg32) count,
        );
    }
    count
}

/// Waits for the lanes of `mask`.
#[inline(always)]
pub fn warp_barrier(mask: u64) {
    // SAFETY: orders the memory accesses of the lanes in the mask, and touches no memory.
    unsafe { bar_warp_sync(mask as i32) }
}

/// Orders this thread's accesses for the threads of a scope, and such fences among each other. (`membar` is
/// `fence.sc` from compute capability 7.0, and has no cluster scope.)
#[inline(always)]
pub fn fence_seq_cst(scope: MemoryScope) {
    // SAFETY: a fence only orders this thread's accesses. Without `nomem`, the compiler moves no memory access across
    // it.
    unsafe {
        match scope {
            MemoryScope::Block => membar_cta(),
            MemoryScope::Cluster => asm!("fence.sc.cluster;", options(nostack)),
            MemoryScope::Device => membar_gl(),
            MemoryScope::System => membar_sys(),
        }
    }
}

/// Orders this thread's accesses for the threads of a scope.
#[inline(always)]
pub fn fence_acq_rel(scope: MemoryScope) {
    // SAFETY: as for `fence_seq_cst`.
    unsafe {
        match scope {
            MemoryScope::Block => asm!("fence.acq_rel.cta;", options(nostack)),
            MemoryScope::Cluster => asm!("fence.acq_rel.cluster;", options(nostack)),
            MemoryScope::Device => asm!("fence.acq_rel.gpu;", options(nostack)),
            MemoryScope::System => asm!("fence.acq_rel.sys;", options(nostack)),
        }
    }
}

/// Does nothing: the GPU's scheduler is fair.
#[inline(always)]
pub fn yield_now() {}

/// The module's counters for grid barriers, in global memory: arrived blocks and completed
/// barriers. Each barrier restores the first, so it needs no reset.
struct GridCounters(UnsafeCell<[u32; 2]>);

// SAFETY: only atomic instructions access the counters.
unsafe impl Sync for GridCounters {}

static GRID_COUNTERS: GridCounters = GridCounters(UnsafeCell::new([0; 2]));

const ARRIVED: usize = 0;
const PASSED: usize = 1;

/// Waits for every thread of the grid.
///
/// # Safety
/// 1. All blocks of the grid are resident at once: the launch is cooperative.
/// 2. No other cooperative launch of the module runs at the same time.
#[inline(always)]
pub unsafe fn grid_barrier() {
    block_barrier();
    if thread_idx_x() == 0 && thread_idx_y() == 0 && thread_idx_z() == 0 {
        // SAFETY: the caller's contract. One thread of each block calls it, after the block's
        // barrier.
        unsafe { meet_other_blocks() };
    }
    block_barrier();
}

/// Waits, with one thread of each block, for the other blocks. It publishes what its block did
/// before the preceding barrier: fences are cumulative (PTX ISA, 8.10, causality order).
///
/// # Safety
/// 1. As for [`grid_barrier`].
#[inline(always)]
unsafe fn meet_other_blocks() {
    let blocks = grid_dim_x() * grid_dim_y() * grid_dim_z();
    let counters = GRID_COUNTERS.0.get().cast::<u32>();
    // SAFETY: only atomic instructions access the two counters, and no other launch does: the
    // caller's contract.
    unsafe {
        // Read before this block arrives: until then no block passes.
        let passed = u32::load(None, AtomicSpace::Global, counters, 2, PASSED);
        fence_seq_cst(MemoryScope::Device);
        let arrived = u32::fetch_add(None, AtomicSpace::Global, counters, 2, ARRIVED, 1);
        if arrived + 1 == blocks {
            u32::store(None, AtomicSpace::Global, counters, 2, ARRIVED, 0);
            fence_seq_cst(MemoryScope::Device);
            u32::fetch_add(None, AtomicSpace::Global, counters, 2, PASSED, 1);
        } else {
            while u32::load(None, AtomicSpace::Global, counters, 2, PASSED) == passed {}
        }
        fence_seq_cst(MemoryScope::Device);
    }
}

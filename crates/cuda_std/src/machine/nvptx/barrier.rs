//! Barriers and fences (PTX ISA, 9.7.12.1 to 9.7.12.3).
//!
//! The barriers of a block are the instructions without `.aligned`: each warp may come to them in parts, as after a
//! branch that its lanes take differently. Of those with `.aligned`, `bar.sync` among them, PTX leaves undefined what
//! happens then.

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
    // SAFETY: a barrier touches no memory of its own. That all threads reach it is what
    // `thread::sync_threads` asks of its caller; a GPU that waits forever is not unsound.
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

/// One of the 16 barriers of a block, whatever `id` is: PTX has no meaning for others.
#[inline(always)]
fn number(id: u32) -> i32 {
    (id % 16) as i32
}

/// A number of threads for which a barrier can wait: a positive multiple of the warp's width.
#[inline(always)]
fn whole_warps(threads: u32) -> i32 {
    (threads / 32 * 32).max(32) as i32
}

/// Waits for every thread of the block and counts those whose predicate is true.
#[inline(always)]
pub fn block_barrier_count(predicate: bool) -> u32 {
    let count: u32;
    // SAFETY: as for `block_barrier`; the count goes to a register.
    unsafe {
        asm!(
            "{{",
            ".reg .pred %predicate;",
            "setp.ne.u32 %predicate, {predicate}, 0;",
            "barrier.red.popc.u32 {count}, 0, %predicate;",
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

/// Orders this thread's accesses, as the threads of a scope see them, and the fences of this kind among each
/// other. (`membar` is `fence.sc` from compute capability 7.0 on, and has no scope of the cluster.)
#[inline(always)]
pub fn fence_seq_cst(scope: MemoryScope) {
    // SAFETY: a fence only orders this thread's accesses; without `nomem`, no access of memory is moved across
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

/// Orders this thread's accesses, as the threads of a scope see them.
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

/// Nothing: the GPU's scheduler is fair by itself.
#[inline(always)]
pub fn yield_now() {}

/// The module's counters for barriers of the grid, in global memory: blocks that have arrived, and
/// how often all have. Each barrier leaves the first as it was, so it needs no reset.
struct GridCounters(UnsafeCell<[u32; 2]>);

// SAFETY: the counters are touched by atomic instructions only.
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
        // SAFETY: (1), (2) are the caller's; one thread of each block, behind the block's barrier.
        unsafe { meet_other_blocks() };
    }
    block_barrier();
}

/// One thread of each block waits for those of the others. What its block did before the barrier
/// in front of this, it hands on: fences are cumulative (PTX ISA, 8.10, causality order).
///
/// # Safety
/// 1. As for [`grid_barrier`].
#[inline(always)]
unsafe fn meet_other_blocks() {
    let blocks = grid_dim_x() * grid_dim_y() * grid_dim_z();
    let counters = GRID_COUNTERS.0.get().cast::<u32>();
    // SAFETY: the two counters are touched by atomic instructions only, and by (2) of
    // `grid_barrier` by no other launch.
    unsafe {
        // Read before the own arrival: until then no block passes.
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

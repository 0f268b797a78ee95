//! Barriers and fences (PTX ISA, 9.7.12.1 to 9.7.12.3).

use super::intrinsics;
use core::arch::asm;

intrinsics! {
    fn barrier_sync_all(id: i32) = "llvm.nvvm.barrier.cta.sync.aligned.all";
    fn barrier_sync_count(id: i32, threads: i32) = "llvm.nvvm.barrier.cta.sync.aligned.count";
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
    unsafe { barrier_sync_count(id as i32, threads as i32) }
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
            "bar.red.popc.u32 {count}, 0, %predicate;",
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

/// Orders this thread's accesses, as the block sees them.
#[inline(always)]
pub fn fence_block() {
    // SAFETY: a fence only orders this thread's accesses.
    unsafe { membar_cta() }
}

/// Orders this thread's accesses, as the grid sees them.
#[inline(always)]
pub fn fence_device() {
    // SAFETY: a fence only orders this thread's accesses.
    unsafe { membar_gl() }
}

/// Orders this thread's accesses, as the host and other devices see them.
#[inline(always)]
pub fn fence_system() {
    // SAFETY: a fence only orders this thread's accesses.
    unsafe { membar_sys() }
}

/// Nothing: the GPU's scheduler is fair by itself.
#[inline(always)]
pub fn yield_now() {}

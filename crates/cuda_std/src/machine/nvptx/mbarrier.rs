//! Barriers in shared memory (PTX ISA, 9.7.12.15: `mbarrier`), from compute capability 9.0.
//!
//! The instructions have no explicit scope: with `.cluster`, each wait in a loop would invalidate
//! L1, and each arrival would be a device-wide fence.

use super::cluster::map_shared;
use super::memory::shared_address;
use core::arch::asm;

/// Makes the word a barrier whose phases end with `arrivals` arrivals.
///
/// # Safety
/// 1. `barrier` is a multiple of 8, in shared memory of the block, and no thread uses it meanwhile.
#[inline(always)]
pub unsafe fn mbarrier_init(barrier: *mut u64, arrivals: u32) {
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "mbarrier.init.shared::cta.b64 [{0}], {1};",
            in(reg32) shared_address(barrier),
            in(reg32) arrivals,
            options(nostack),
        );
    }
}

/// Makes this thread's initialised barriers visible to the cluster and to bulk copies.
#[inline(always)]
pub fn fence_mbarrier_init() {
    // SAFETY: a fence only orders this thread's accesses.
    unsafe { asm!("fence.mbarrier_init.release.cluster;", options(nostack)) }
}

/// Arrives at a barrier of this block.
///
/// # Safety
/// 1. `barrier` is a barrier in shared memory of the block.
#[inline(always)]
pub unsafe fn mbarrier_arrive(barrier: *mut u64) {
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "mbarrier.arrive.shared::cta.b64 _, [{0}];",
            in(reg32) shared_address(barrier),
            options(nostack),
        );
    }
}

/// Arrives at the barrier at the same offset in the block of rank `rank`.
///
/// # Safety
/// 1. The word at the offset of `barrier` in the block of rank `rank` is a barrier.
/// 2. That block of the cluster is still running.
#[inline(always)]
pub unsafe fn mbarrier_arrive_in(barrier: *mut u64, rank: u32) {
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "mbarrier.arrive.shared::cluster.b64 _, [{0}];",
            in(reg32) map_shared(shared_address(barrier), rank),
            options(nostack),
        );
    }
}

/// Arrives at a barrier of this block, and makes its phase wait for `bytes` more bytes.
///
/// # Safety
/// 1. `barrier` is a barrier in shared memory of the block.
#[inline(always)]
pub unsafe fn mbarrier_arrive_expect(barrier: *mut u64, bytes: u32) {
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [{0}], {1};",
            in(reg32) shared_address(barrier),
            in(reg32) bytes,
            options(nostack),
        );
    }
}

/// Waits until the phase of this parity has ended.
///
/// # Safety
/// 1. `barrier` is a barrier in shared memory of the block.
#[inline(always)]
pub unsafe fn mbarrier_wait(barrier: *mut u64, parity: bool) {
    // SAFETY: the caller's contract.
    unsafe {
        let (barrier, parity) = (shared_address(barrier), u32::from(parity));
        loop {
            let has_ended: u32;
            asm!(
                "{{",
                ".reg .pred %ended;",
                "mbarrier.try_wait.parity.shared::cta.b64 %ended, [{barrier}], {parity};",
                "selp.u32 {has_ended}, 1, 0, %ended;",
                "}}",
                barrier = in(reg32) barrier,
                parity = in(reg32) parity,
                has_ended = out(reg32) has_ended,
                options(nostack),
            );
            if has_ended != 0 {
                return;
            }
        }
    }
}

//! Registers of a warpgroup (PTX ISA, 9.7.19.5: `setmaxnreg`), on compute capability 9.0.

use core::arch::asm;

/// Releases registers until each thread of the warpgroup has `COUNT`.
///
/// # Safety
/// 1. All threads of the warpgroup make the call together, converged.
/// 2. The kernel states its bounds, and each thread has at least `COUNT` registers.
/// 3. Since the last such call all threads of the warpgroup have passed a barrier.
#[inline(always)]
pub unsafe fn decrease_registers<const COUNT: u32>() {
    // SAFETY: the caller's contract. `ptxas` limits the code that follows to this number of
    // registers.
    unsafe { asm!("setmaxnreg.dec.sync.aligned.u32 {0};", const COUNT, options(nostack)) }
}

/// Waits until each thread of the warpgroup can have `COUNT` registers.
///
/// # Safety
/// As for [`decrease_registers`], except that each thread has at most `COUNT` registers.
#[inline(always)]
pub unsafe fn increase_registers<const COUNT: u32>() {
    // SAFETY: the caller's contract. The warpgroup waits for registers that others release.
    unsafe { asm!("setmaxnreg.inc.sync.aligned.u32 {0};", const COUNT, options(nostack)) }
}

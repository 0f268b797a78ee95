//! Registers of a warpgroup (PTX ISA, 9.7.19.5: `setmaxnreg`), on compute capability 9.0.

use core::arch::asm;

/// Gives registers back until each thread of the warpgroup has `COUNT`.
///
/// # Safety
/// 1. All threads of the warpgroup make the call together: none has branched away.
/// 2. The kernel states its bounds, and each thread has at least `COUNT` registers.
/// 3. Since the last such call all threads of the warpgroup have passed a barrier.
#[inline(always)]
pub unsafe fn decrease_registers<const COUNT: u32>() {
    // SAFETY: (1) to (3) are the caller's; ptxas keeps the code behind it within as many registers.
    unsafe { asm!("setmaxnreg.dec.sync.aligned.u32 {0};", const COUNT, options(nostack)) }
}

/// Waits until each thread of the warpgroup can have `COUNT` registers.
///
/// # Safety
/// As for [`decrease_registers`], except that each thread has at most `COUNT` registers.
#[inline(always)]
pub unsafe fn increase_registers<const COUNT: u32>() {
    // SAFETY: (1) to (3) are the caller's; the warpgroup waits for registers that others give back.
    unsafe { asm!("setmaxnreg.inc.sync.aligned.u32 {0};", const COUNT, options(nostack)) }
}

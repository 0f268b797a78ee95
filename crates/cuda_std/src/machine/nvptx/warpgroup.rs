//! Registers of a warpgroup (PTX ISA, 9.7.19.5: `setmaxnreg`), on compute capability 9.0.

use core::arch::asm;

/// Gives registers back until each thread of the warpgroup has `COUNT`.
#[inline(always)]
pub fn decrease_registers<const COUNT: u32>() {
    // SAFETY: ptxas keeps the code behind it within as many registers.
    unsafe { asm!("setmaxnreg.dec.sync.aligned.u32 {0};", const COUNT, options(nostack)) }
}

/// Waits until each thread of the warpgroup can have `COUNT` registers.
#[inline(always)]
pub fn increase_registers<const COUNT: u32>() {
    // SAFETY: the block waits for registers that its other warpgroups give back.
    unsafe { asm!("setmaxnreg.inc.sync.aligned.u32 {0};", const COUNT, options(nostack)) }
}

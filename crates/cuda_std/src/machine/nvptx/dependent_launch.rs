//! Launches that depend on others (PTX ISA, "Parallel Synchronization and Communication Instructions":
//! `griddepcontrol`), from compute capability 9.0.

use core::arch::asm;

/// Waits until the launches before have ended and their writes are visible.
#[inline(always)]
pub fn dependent_launch_wait() {
    // SAFETY: a wait accesses no memory. Without `nomem`, the compiler moves no memory access across it.
    unsafe { asm!("griddepcontrol.wait;", options(nostack)) }
}

/// Lets the next launches start once all blocks have made the call or ended.
#[inline(always)]
pub fn dependent_launch_trigger() {
    // SAFETY: as for the wait.
    unsafe { asm!("griddepcontrol.launch_dependents;", options(nostack)) }
}

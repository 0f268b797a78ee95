//! Launches that depend on others (PTX ISA, "Parallel Synchronization and Communication Instructions": `griddepcontrol`), from compute capability 9.0 on.

use core::arch::asm;

/// Waits until the launches before have ended, and what they have written is visible.
#[inline(always)]
pub fn dependent_launch_wait() {
    // SAFETY: a wait touches no memory of its own; without `nomem`, no access of memory is moved across it.
    unsafe { asm!("griddepcontrol.wait;", options(nostack)) }
}

/// Lets the launches behind begin, once all blocks have made the call or ended.
#[inline(always)]
pub fn dependent_launch_trigger() {
    // SAFETY: as for the wait.
    unsafe { asm!("griddepcontrol.launch_dependents;", options(nostack)) }
}

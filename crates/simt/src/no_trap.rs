//! Stands for `trap` where the registers of an interrupted thread are not known to it. The
//! overflow of a simulated thread's stack ends the process there, unless an instruction finds it.

/// Installs nothing.
pub(crate) fn install() {}

/// Nothing is interrupted.
#[cfg(target_os = "linux")]
pub(crate) fn interrupt_signal() -> Option<libc::c_int> {
    None
}

/// No handler needs a stack.
pub(crate) fn ensure_signal_stack() {}

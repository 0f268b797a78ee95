//! Stands for `trap` on systems whose interrupted threads it cannot change. The
//! overflow of a simulated thread's stack ends the process there, unless an instruction finds it.

use crate::state::HostThread;

/// Installs nothing.
pub(crate) fn install() {}

/// Nothing is interrupted.
pub(crate) fn interrupt(_worker: &HostThread) {}

/// No handler needs a stack.
pub(crate) fn ensure_signal_stack() {}

//! Replaces `trap` on systems where it cannot change interrupted threads. A stack overflow of a simulated thread ends
//! the process there, unless an instruction finds it.

use crate::state::HostThread;

/// Installs nothing.
pub(crate) fn install() {}

/// Nothing is interrupted.
pub(crate) fn interrupt(_worker: &HostThread) {}

/// No handler needs a stack.
pub(crate) fn ensure_signal_stack() {}

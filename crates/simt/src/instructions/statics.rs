//! Static arrays of the running launch.

use crate::current::try_instruction;

/// The running launch's copy of the static array with the initial bytes `initial`; none outside of a launch.
///
/// `initial` is the content of a `static`, which identifies the array. The copy has as many bytes, aligned to 256.
#[inline]
pub fn static_memory(initial: &[u8]) -> Option<*mut u8> {
    try_instruction(None, |_, block| block.statics.start_of(initial))
}

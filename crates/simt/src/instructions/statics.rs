//! Static arrays of the running launch.

use crate::current::try_instruction;

/// Where the running launch has the static array that `initial`, the bytes of a `static`, stands
/// for: as many bytes, aligned to 256. None outside of a launch.
#[inline]
pub fn static_memory(initial: &[u8]) -> Option<*mut u8> {
    try_instruction(None, |_, block| block.statics.start_of(initial))
}

//! Memory for results that the host waits for.

use crate::error::Outcome;
use crate::scratch::Mapped;

/// Results that the host waits for. Kernels write them to memory that the host reads.
///
/// On CUDA it is mapped memory, which saves a buffer and a copy. Requirement numbers are those of
/// [`Backend`](super::Backend).
pub(crate) trait DeviceResults {
    /// Allocates `bytes` (more than 0) for kernels to write and the host to read, aligned to 256 bytes, with
    /// unspecified contents.
    fn allocate_mapped(&self, bytes: usize) -> Outcome<Mapped>;

    /// Waits until all submitted work is complete, and copies the bytes at `source`.
    ///
    /// # Safety
    /// Requirements 1 and 2 of the trait for `destination.len()` bytes at `source`, which are in an allocation by
    /// `allocate_mapped`.
    unsafe fn read_mapped(&self, destination: &mut [u8], source: Mapped) -> Outcome<()>;
}

//! Memory for results that the host waits for.

use crate::error::Outcome;
use crate::scratch::Mapped;

/// Results that the host waits for. The kernel writes them where the host reads: on CUDA to mapped
/// memory, which saves the allocation of a buffer and a copy.
///
/// The requirements of [`Backend`](super::Backend) hold by their numbers.
pub(crate) trait DeviceResults {
    /// Allocates `bytes` (more than 0) that kernels write and the host reads, aligned to 256 bytes,
    /// with unspecified contents.
    fn allocate_mapped(&self, bytes: usize) -> Outcome<Mapped>;

    /// Waits until all submitted work is complete, and copies what it left at `source`.
    ///
    /// # Safety
    /// Requirements 1 and 2 of the trait for `destination.len()` bytes at `source`, which are of an
    /// allocation by `allocate_mapped`.
    unsafe fn read_mapped(&self, destination: &mut [u8], source: Mapped) -> Outcome<()>;
}

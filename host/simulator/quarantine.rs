//! Freed memory that is kept for a while, like the quarantine of AddressSanitizer.

use super::pages::{self, host_pointer};
use std::collections::VecDeque;

/// Freed memory that is kept for a while. A kernel that still uses it is detected, and does not touch another kernel's
/// data.
#[derive(Debug, Default)]
pub(super) struct Quarantine {
    /// Addresses and sizes in bytes, oldest first.
    allocations: VecDeque<(u64, usize)>,
    bytes: usize,
}

/// The amount of freed memory that is kept, in bytes.
pub(super) const KEPT_BYTES: usize = 16 << 20;

/// The least size that an allocation counts as. It limits their number to 1024, because each lengthens the list in
/// which accesses are looked up.
const LEAST_KEPT_BYTES: usize = KEPT_BYTES / 1024;

impl Quarantine {
    /// Frees an allocation, now or when `most_bytes` bytes of others have been freed after it.
    ///
    /// # Safety
    /// 1. [`pages::allocate`] made the allocation of `bytes` bytes at `address`, which is live.
    /// 2. Only defective kernels still use it.
    pub(super) unsafe fn free(&mut self, address: u64, bytes: usize, most_bytes: usize) {
        simt::mark_freed(address as usize, bytes);
        self.allocations.push_back((address, bytes));
        self.bytes += bytes.max(LEAST_KEPT_BYTES);
        self.shrink(most_bytes);
    }

    /// Releases the oldest allocations until at most `most_bytes` are kept.
    pub(super) fn shrink(&mut self, most_bytes: usize) {
        while self.bytes > most_bytes
            && let Some((address, bytes)) = self.allocations.pop_front()
        {
            self.bytes -= bytes.max(LEAST_KEPT_BYTES);
            simt::forget_allocation(address as usize, bytes);
            // SAFETY: a live allocation that is not used again, by the contract of `free`. It is freed once, because
            // it is no longer in the queue.
            unsafe { pages::free(host_pointer(address), bytes) };
        }
    }
}

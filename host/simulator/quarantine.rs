//! Memory that was freed and is not yet given back, as AddressSanitizer keeps it.

use std::alloc::{self, Layout};
use std::collections::VecDeque;
use std::ptr;

/// What `cudaMalloc` guarantees, which kernels with vector access rely on.
pub(super) const ALIGNMENT: usize = 256;

/// Freed memory that is kept for a while, so that a kernel that still uses it is found, rather than
/// one that was given the same memory.
#[derive(Debug, Default)]
pub(super) struct Quarantine {
    /// Addresses and bytes, the oldest first.
    allocations: VecDeque<(u64, usize)>,
    bytes: usize,
}

/// How much freed memory is kept.
pub(super) const KEPT_BYTES: usize = 16 << 20;

/// What a small allocation counts as: at most 1024 are kept, for each makes the list longer that
/// accesses are looked up in.
const LEAST_KEPT_BYTES: usize = KEPT_BYTES / 1024;

impl Quarantine {
    /// Frees an allocation, now or when `most_bytes` others have been freed after it.
    ///
    /// # Safety
    /// 1. The allocation of `bytes` bytes at `address` is live, with [`ALIGNMENT`].
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
            // SAFETY: it was allocated with this layout, by (1) of `free`.
            let layout = unsafe { Layout::from_size_align_unchecked(bytes, ALIGNMENT) };
            // SAFETY: by (1) and (2) of `free` it is live and not used again; it is freed once,
            // for it is no longer in the queue.
            unsafe { alloc::dealloc(host_pointer(address), layout) };
        }
    }
}

/// The host pointer of an address that `allocate` exposed.
pub(super) fn host_pointer(address: u64) -> *mut u8 {
    ptr::with_exposed_provenance_mut(address as usize)
}

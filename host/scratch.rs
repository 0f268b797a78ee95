//! The memory that a device keeps for its reductions.

use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An allocation of device memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
}

/// A place in mapped memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapped {
    /// Where the host reads.
    pub(crate) host: NonNull<u8>,
    /// The address for kernels.
    pub(crate) device: u64,
}

// SAFETY: it is an address; code that reads and writes there answers for races.
unsafe impl Send for Mapped {}

impl Mapped {
    /// The place `bytes` further on.
    ///
    /// # Safety
    /// 1. It is in the same allocation.
    pub(crate) unsafe fn add(self, bytes: usize) -> Self {
        Self {
            // SAFETY: by (1) it is in the allocation.
            host: unsafe { self.host.add(bytes) },
            device: self.device + bytes as u64,
        }
    }
}

/// Memory that a backend keeps for its reductions: the backend frees it when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// What [`Workspace`](crate::workspace::Workspace) uses, if it has been allocated.
    workspace: Mutex<Option<Allocation>>,
    /// What [`Counters`](crate::workspace::Counters) uses, if it has been allocated.
    counters: Mutex<Option<Allocation>>,
    /// What [`ResultSlot`](crate::result_slot::ResultSlot) uses.
    slots: Mutex<Slots>,
}

/// Places for results in mapped memory.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// All mapped memory, as it was allocated.
    pub(crate) chunks: Vec<Mapped>,
    /// The places in it that no call uses.
    pub(crate) free: Vec<Mapped>,
}

/// Bytes of a place for a result. Two places have no cache line in common.
pub(crate) const SLOT_BYTES: usize = 128;

/// Bytes of mapped memory that are allocated together, a page: 32 places. More are needed where
/// more threads wait for results at once.
pub(crate) const CHUNK_BYTES: usize = 4096;

impl Slots {
    /// Adds the places of an allocation of [`CHUNK_BYTES`].
    pub(crate) fn add(&mut self, chunk: Mapped) {
        const SLOTS: usize = CHUNK_BYTES / SLOT_BYTES;
        self.chunks.push(chunk);
        // Room for all places, so that none needs memory when it is given back.
        self.free
            .reserve(self.chunks.len() * SLOTS - self.free.len());
        for number in (0..SLOTS).rev() {
            // SAFETY: (1) the chunk has the bytes.
            self.free.push(unsafe { chunk.add(number * SLOT_BYTES) });
        }
    }
}

impl Scratch {
    /// The allocation, which is whole whatever a panicking holder of the lock did.
    pub(crate) fn workspace(&self) -> MutexGuard<'_, Option<Allocation>> {
        self.workspace
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The allocation, as that of the workspace.
    pub(crate) fn counters(&self) -> MutexGuard<'_, Option<Allocation>> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has been allocated, to be freed.
    pub(crate) fn take(&self) -> impl Iterator<Item = Allocation> + use<> {
        [self.workspace().take(), self.counters().take()]
            .into_iter()
            .flatten()
    }

    /// The places. A panicking holder of the lock may have lost some, no more.
    pub(crate) fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

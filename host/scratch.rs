//! Memory that a device keeps for its reductions.

use crate::locks::lock_of_process;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard};

/// An allocation of device memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
}

/// A place in mapped memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapped {
    /// The host's address.
    pub(crate) host: NonNull<u8>,
    /// The kernels' address.
    pub(crate) device: u64,
}

// SAFETY: it is only an address; code that reads or writes there is responsible for races.
unsafe impl Send for Mapped {}

impl Mapped {
    /// The place `bytes` bytes further on.
    ///
    /// # Safety
    /// 1. It is in the same allocation.
    pub(crate) unsafe fn add(self, bytes: usize) -> Self {
        Self {
            // SAFETY: the place is in the same allocation: the caller's contract.
            host: unsafe { self.host.add(bytes) },
            device: self.device + bytes as u64,
        }
    }
}

/// Memory that a backend keeps for its reductions. The backend frees it when it is dropped.
///
/// In a forked child, memory that was locked at the fork is lost.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// The process that has made it.
    process: u32,
    /// The memory of the [`Workspace`](crate::workspace::Workspace), if allocated.
    workspace: Mutex<Option<Allocation>>,
    /// The memory of the [`Counters`](crate::workspace::Counters), if allocated.
    counters: Mutex<Option<Allocation>>,
    /// The places of [`ResultSlot`](crate::result_slot::ResultSlot)s.
    slots: Mutex<Slots>,
}

/// Places for results in mapped memory.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// All mapped memory, by allocation.
    pub(crate) chunks: Vec<Mapped>,
    /// The places in it that no call uses.
    pub(crate) free: Vec<Mapped>,
}

/// Size of a place for a result, in bytes. Two places do not share a cache line.
pub(crate) const SLOT_BYTES: usize = 128;

/// Size of one allocation of mapped memory, in bytes: a page, or 32 places. More pages are allocated if more threads
/// wait for results at once.
pub(crate) const CHUNK_BYTES: usize = 4096;

impl Slots {
    /// Adds the places of an allocation of [`CHUNK_BYTES`] bytes.
    pub(crate) fn add(&mut self, chunk: Mapped) {
        const SLOTS: usize = CHUNK_BYTES / SLOT_BYTES;
        self.chunks.push(chunk);
        // Capacity for all places, so that giving one back never allocates.
        self.free
            .reserve(self.chunks.len() * SLOTS - self.free.len());
        for number in (0..SLOTS).rev() {
            // SAFETY: the place is in the chunk: the chunk has that many bytes.
            self.free.push(unsafe { chunk.add(number * SLOT_BYTES) });
        }
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            process: std::process::id(),
            workspace: Mutex::default(),
            counters: Mutex::default(),
            slots: Mutex::default(),
        }
    }
}

impl Scratch {
    /// The allocation. It stays consistent even if a holder of the lock panics.
    pub(crate) fn workspace(&self) -> Option<MutexGuard<'_, Option<Allocation>>> {
        lock_of_process(&self.workspace, self.process)
    }

    /// The allocation of the counters, as for the workspace.
    pub(crate) fn counters(&self) -> Option<MutexGuard<'_, Option<Allocation>>> {
        lock_of_process(&self.counters, self.process)
    }

    /// All allocations.
    pub(crate) fn allocations(&self) -> Vec<Allocation> {
        let all = [self.workspace(), self.counters()].into_iter().flatten();
        all.filter_map(|allocation| *allocation).collect()
    }

    /// Takes all allocations, for freeing.
    pub(crate) fn take(&self) -> impl Iterator<Item = Allocation> + use<> {
        let workspace = self.workspace().and_then(|mut it| it.take());
        let counters = self.counters().and_then(|mut it| it.take());
        [workspace, counters].into_iter().flatten()
    }

    /// The places. If a holder of the lock panicked, a few places may be lost, no more.
    pub(crate) fn slots(&self) -> Option<MutexGuard<'_, Slots>> {
        lock_of_process(&self.slots, self.process)
    }

    /// Takes all mapped memory, for freeing.
    pub(crate) fn take_chunks(&self) -> Vec<Mapped> {
        let slots = self.slots();
        slots.map_or_else(Vec::new, |mut it| std::mem::take(&mut it.chunks))
    }
}

//! The memory that a device keeps for its reductions.

use crate::backend::Mapped;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An allocation of device memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
}

/// Memory that a backend keeps for its reductions: the backend frees it when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// What [`Workspace`](crate::workspace::Workspace) uses, if it has been allocated.
    workspace: Mutex<Option<Allocation>>,
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

impl Scratch {
    /// The allocation, which is whole whatever a panicking holder of the lock did.
    pub(crate) fn workspace(&self) -> MutexGuard<'_, Option<Allocation>> {
        self.workspace
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The places. A panicking holder of the lock may have lost some, no more.
    pub(crate) fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The place of the device memory that the reductions of one device share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// An allocation of device memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
}

/// Memory that a backend keeps for its reductions, if it has been allocated: the backend frees it
/// when it is dropped, [`Workspace`](crate::workspace::Workspace) uses it.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    allocation: Mutex<Option<Allocation>>,
}

impl Scratch {
    /// The allocation, which is whole whatever a panicking holder of the lock did.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Allocation>> {
        self.allocation
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

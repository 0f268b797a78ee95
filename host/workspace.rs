//! Device memory that the sums of one device share.

use crate::backend::Backend;
use crate::error::Result;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tilewright_kernels::reduce::MAX_BLOCKS;

/// Bytes of the largest accumulator of a reduction.
pub(crate) const LARGEST_PARTIAL: usize = 8;

/// The ticket has a cache line of its own in front of the partial sums.
const TICKET_BYTES: usize = 256;

const BYTES: usize = TICKET_BYTES + MAX_BLOCKS as usize * LARGEST_PARTIAL;

/// The memory, allocated when it is first asked for: a ticket, which is 0 between launches, and
/// room for [`MAX_BLOCKS`] partial sums.
///
/// Who holds the lock may ask for launches that use it. The device does its work in order, so
/// launches share it without meeting; on the simulator a launch is over when the call returns.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    address: Mutex<Option<u64>>,
}

/// The workspace, locked.
pub(crate) struct Locked<'a> {
    address: MutexGuard<'a, Option<u64>>,
    backend: &'a dyn Backend,
}

impl Workspace {
    pub(crate) fn lock<'a>(&'a self, backend: &'a dyn Backend) -> Locked<'a> {
        // The address is whole whatever a panicking holder did.
        let address = self.address.lock().unwrap_or_else(PoisonError::into_inner);
        Locked { address, backend }
    }

    /// Frees the memory; the backend calls it when it is dropped.
    pub(crate) fn release(&self, backend: &dyn Backend) {
        self.lock(backend).discard();
    }
}

impl Locked<'_> {
    /// The addresses of the ticket and of the partial sums, each aligned to 256 bytes.
    pub(crate) fn addresses(&mut self, operation: &'static str) -> Result<(*mut u32, u64)> {
        let address = match *self.address {
            Some(address) => address,
            None => *self
                .address
                .insert(self.backend.allocate_zeroed(operation, BYTES)?),
        };
        let ticket = ptr::with_exposed_provenance_mut(address as usize);
        Ok((ticket, address + TICKET_BYTES as u64))
    }

    /// Gives the memory back, so that the next use starts anew: after a failed launch the ticket
    /// may not be 0.
    pub(crate) fn discard(&mut self) {
        if let Some(address) = self.address.take() {
            // SAFETY: (1) `addresses` allocated it with this size, and forgets it here.
            unsafe { self.backend.free(address, BYTES) };
        }
    }
}

//! Address space kept for the report that the host has run out of memory.
//!
//! The shadow of the checks and the state of blocks fill the memory, by allocations that may fail.
//! The report of such a failure needs allocations that must not fail: the released reserve makes
//! room for them.

use crate::basics;
use std::sync::{Mutex, MutexGuard};

/// The host has no memory left for the simulator's data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the host has no memory left for the simulator")]
pub struct OutOfMemory;

/// Never touched, so that it takes only address space. It is larger than any allocation that the C
/// library serves from its heap, whose freed memory does not reach other threads.
const BYTES: usize = 40 << 20;

static RESERVE: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Locked also while the process forks.
pub(crate) fn lock() -> MutexGuard<'static, Vec<u8>> {
    basics::lock(&RESERVE)
}

/// Allocates the reserve, if there is memory for it.
pub(crate) fn hold() {
    let mut reserve = lock();
    if reserve.capacity() == 0 {
        // The launch runs without a reserve, too.
        let _ = reserve.try_reserve_exact(BYTES);
    }
}

/// Frees the reserve, for the report of the failure.
#[cold]
pub(crate) fn release() -> OutOfMemory {
    *lock() = Vec::new();
    OutOfMemory
}

/// Collects the items in a list.
///
/// # Errors
///
/// [`OutOfMemory`] if the host has none left for it; the reserve is given back.
pub(crate) fn try_collect<T>(
    items: impl ExactSizeIterator<Item = T>,
) -> Result<Vec<T>, OutOfMemory> {
    let mut list = Vec::new();
    list.try_reserve_exact(items.len()).map_err(|_| release())?;
    list.extend(items);
    Ok(list)
}

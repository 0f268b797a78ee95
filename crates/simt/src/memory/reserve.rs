//! Address space that is kept for the moment when the host has none left.
//!
//! The shadow of the checks and the state of blocks are what fills the memory, in pieces that may
//! fail. The report of that needs pieces that may not: what is released here is room for them.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The host has no memory left for what the simulator keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the host has no memory left for the simulator")]
pub struct OutOfMemory;

/// Never touched, so that it costs address space alone. Larger than any piece that the C library
/// takes from its heap, from where freed memory does not get to other threads.
const BYTES: usize = 40 << 20;

static RESERVE: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Locked also while the process forks.
pub(crate) fn lock() -> MutexGuard<'static, Vec<u8>> {
    RESERVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the reserve, if there is room for it.
pub(crate) fn hold() {
    let mut reserve = lock();
    if reserve.capacity() == 0 {
        // Without a reserve the launch still runs.
        let _ = reserve.try_reserve_exact(BYTES);
    }
}

/// Gives the reserve back, for what reports this.
#[cold]
pub(crate) fn release() -> OutOfMemory {
    *lock() = Vec::new();
    OutOfMemory
}

/// The items in a list.
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

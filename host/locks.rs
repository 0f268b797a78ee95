//! Locks of data that a panic cannot leave inconsistent.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Locks `mutex`, poisoned or not.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks `mutex`, which process `process` has made. `None` in its forked child if the mutex was locked at the fork: no
/// thread of the child unlocks it.
pub(crate) fn lock_of_process<T: ?Sized>(
    mutex: &Mutex<T>,
    process: u32,
) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) if std::process::id() == process => Some(lock(mutex)),
        Err(TryLockError::WouldBlock) => None,
    }
}

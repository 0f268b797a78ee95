//! The locks of this crate while the process forks: the child has the forking thread alone, so one
//! that another thread held would stay locked for ever.

use super::{watchdog, workers};
use crate::memory::lock_registry;
use std::any::Any;
use std::cell::Cell;
use std::sync::Once;

thread_local! {
    /// The guards of all locks, between the handlers before and after a fork.
    static HELD: Cell<Option<[Box<dyn Any>; 3]>> = const { Cell::new(None) };
}

/// Has forks take all locks, once per process.
pub(crate) fn install() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        // SAFETY: the handlers have the right type, and may be called on any thread that forks.
        unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
    });
}

extern "C" fn before() {
    let held: [Box<dyn Any>; 3] = [
        Box::new(workers::lock()),
        Box::new(watchdog::lock_state()),
        Box::new(lock_registry()),
    ];
    HELD.set(Some(held));
}

extern "C" fn after() {
    HELD.set(None);
}

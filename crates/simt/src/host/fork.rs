//! Takes the locks of this crate while the process forks: the child has only the forking thread, so a lock held by
//! another thread would stay locked for ever.

use super::{watchdog, workers};
use crate::basics::lock_source_lines;
use crate::memory::{lock_registry, lock_reserve};
use std::any::Any;
use std::cell::Cell;

thread_local! {
    /// The guards of all locks, between the handlers before and after a fork.
    static HELD: Cell<Option<[Box<dyn Any>; 5]>> = const { Cell::new(None) };
}

/// Makes forks take all locks. The loader calls it, before another thread of the program could fork
/// halfway through.
#[used]
#[unsafe(link_section = ".init_array")]
static INSTALL: extern "C" fn() = install;

extern "C" fn install() {
    // SAFETY: the handlers have the required type, and may be called on any thread that forks.
    unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
}

extern "C" fn before() {
    let held: [Box<dyn Any>; 5] = [
        Box::new(workers::lock()),
        Box::new(watchdog::lock_state()),
        Box::new(lock_registry()),
        Box::new(lock_reserve()),
        Box::new(lock_source_lines()),
    ];
    HELD.set(Some(held));
}

extern "C" fn after() {
    HELD.set(None);
}

//! Takes the locks of this crate while the process forks: the child has only the forking thread, so a lock held by
//! another thread would stay locked for ever.

use super::{watchdog, workers};
use crate::basics::lock_source_lines;
use crate::memory::{lock_registry, lock_reserve};
use std::any::Any;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The guards of all locks.
type Guards = [Box<dyn Any>; 5];

/// The guards, between the handlers before and after a fork. The thread that has them is the one that forks. Local to the
/// thread, they could not be kept where a thread forks as it ends, in a destructor of what is local to it.
static HELD: AtomicPtr<Guards> = AtomicPtr::new(ptr::null_mut());

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
    let held: Guards = [
        Box::new(workers::lock()),
        Box::new(watchdog::lock_state()),
        Box::new(lock_registry()),
        Box::new(lock_reserve()),
        Box::new(lock_source_lines()),
    ];
    HELD.store(Box::into_raw(Box::new(held)), Ordering::Relaxed);
}

extern "C" fn after() {
    let held = HELD.swap(ptr::null_mut(), Ordering::Relaxed);
    if !held.is_null() {
        // SAFETY: `before` made the box on this thread, and nothing else has taken it since.
        drop(unsafe { Box::from_raw(held) });
    }
}

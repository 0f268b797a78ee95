//! The closure that the threads of a launch run.

use std::fmt;
use std::mem::{forget, transmute};
use std::sync::Arc;

/// The kernel: a closure that each thread of a launch calls once.
///
/// A launch shares it with its threads. A thread that is abandoned, as after a stack overflow, may have lent a
/// part of the closure to another host thread, which goes on: then the closure is never dropped.
#[derive(Clone)]
pub struct Body(Arc<dyn Fn() + Send + Sync>);

impl Body {
    /// A body that owns its captures.
    #[must_use]
    pub fn new(body: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(body))
    }

    /// A body that borrows its captures.
    ///
    /// # Safety
    ///
    /// 1. What `body` borrows lives as long as the returned value and its clones, and for ever if a simulated thread
    ///    is abandoned and a host thread that it has started may still use it.
    #[must_use]
    pub unsafe fn borrowing<'a>(body: impl Fn() + Send + Sync + 'a) -> Self {
        let body: Arc<dyn Fn() + Send + Sync + 'a> = Arc::new(body);
        // SAFETY: the types differ only in a lifetime, and what `body` borrows lives long enough:
        // the caller's contract.
        Self(unsafe {
            transmute::<Arc<dyn Fn() + Send + Sync + 'a>, Arc<dyn Fn() + Send + Sync>>(body)
        })
    }

    /// Runs the kernel as the calling thread.
    #[inline]
    pub(crate) fn call(&self) {
        (self.0)();
    }

    /// Leaks the closure, because an abandoned thread may have lent it to a host thread.
    #[cold]
    pub(crate) fn keep_for_ever(&self) {
        forget(Arc::clone(&self.0));
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Body").finish_non_exhaustive()
    }
}

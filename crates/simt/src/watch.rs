//! Whether any launch of the process looks at accesses. While none does, an access pays one load
//! for checks and counters together.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Launches that check or count at the moment.
static WATCHING_LAUNCHES: AtomicUsize = AtomicUsize::new(0);

/// While it lives, accesses are shown to the checks and counters of their blocks.
pub(crate) struct Watch;

impl Watch {
    pub fn begin() -> Self {
        WATCHING_LAUNCHES.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHING_LAUNCHES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether some launch checks or counts. It need not be that of the running thread.
#[inline]
pub(crate) fn is_anyone_watching() -> bool {
    WATCHING_LAUNCHES.load(Ordering::Relaxed) != 0
}

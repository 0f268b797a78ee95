//! Whether any launch of the process observes accesses. While none does, an access costs one load for the schedule,
//! checks and counters together.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of launches that check, count or preempt.
static WATCHING_LAUNCHES: AtomicUsize = AtomicUsize::new(0);

/// The number of launches that count.
static COUNTING_LAUNCHES: AtomicUsize = AtomicUsize::new(0);

/// The number of launches that count, plus the number of blocks that are to stop.
static CAREFUL: AtomicUsize = AtomicUsize::new(0);

/// While it lives, accesses go to the schedule, checks and counters of their blocks.
pub(crate) struct Watch {
    counts: bool,
}

impl Watch {
    /// Begins to watch, on behalf of a launch that counts or one that does not.
    pub fn begin(counts: bool) -> Self {
        WATCHING_LAUNCHES.fetch_add(1, Ordering::Relaxed);
        if counts {
            COUNTING_LAUNCHES.fetch_add(1, Ordering::Relaxed);
            begin_care();
        }
        Self { counts }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHING_LAUNCHES.fetch_sub(1, Ordering::Relaxed);
        if self.counts {
            COUNTING_LAUNCHES.fetch_sub(1, Ordering::Relaxed);
            end_care();
        }
    }
}

/// Whether any launch, not only the running thread's, checks, counts or preempts.
#[inline]
pub(crate) fn is_watching() -> bool {
    WATCHING_LAUNCHES.load(Ordering::Relaxed) != 0
}

/// Whether any launch, not only the running thread's, counts.
#[inline]
pub(crate) fn is_counting() -> bool {
    COUNTING_LAUNCHES.load(Ordering::Relaxed) != 0
}

/// Makes each access observed until the matching call of [`end_care`].
pub(super) fn begin_care() {
    CAREFUL.fetch_add(1, Ordering::Relaxed);
}

pub(super) fn end_care() {
    CAREFUL.fetch_sub(1, Ordering::Relaxed);
}

/// Whether no launch counts, and no block is to stop.
#[inline]
pub(crate) fn is_quiet() -> bool {
    CAREFUL.load(Ordering::Relaxed) == 0
}

//! Idle yields: yields while nothing else happens in the block. Their number is limited, and a block that only yields
//! sleeps, so that others run.

use super::watched::Watched;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// The number of idle yields in a row after which a spinning block sleeps, so that others run.
const YIELDS_BEFORE_SLEEP: u64 = 1 << 14;
/// The number of further yields between two sleeps.
const YIELDS_PER_SLEEP: u64 = 256;
/// The duration of a sleep: much shorter than a block, much longer than a yield.
const SLEEP: Duration = Duration::from_micros(50);

/// The idle yields of a block.
pub(crate) struct Yields {
    /// Yields since anything else happened in the block.
    idle: Cell<u64>,
    limit: u64,
    sleeps: bool,
}

impl Yields {
    /// Allows `limit` idle yields in a row. With `sleeps`, the block sleeps so that others may run.
    pub fn new(limit: u64, sleeps: bool) -> Self {
        Self {
            idle: Cell::new(0),
            limit,
            sleeps,
        }
    }

    /// Resets the count for another block.
    pub fn clear(&mut self) {
        self.idle.set(0);
    }

    /// The most idle yields in a row.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Yields since anything else happened.
    pub fn idle(&self) -> u64 {
        self.idle.get()
    }

    /// Whether threads have yielded long enough that the block sleeps.
    pub fn is_spinning(&self) -> bool {
        self.idle() >= YIELDS_BEFORE_SLEEP
    }

    /// Notes progress of a thread: spinning threads may now see a change.
    #[inline]
    pub fn note_progress(&self, watched: &Watched) {
        if self.idle.replace(0) >= YIELDS_BEFORE_SLEEP {
            watched.set_idle(false);
        }
    }

    /// Counts `count` yields; false when the block has used up its limit.
    pub fn may_yield_again(&self, count: u64, watched: &Watched) -> bool {
        let before = self.idle.get();
        let yields = before.saturating_add(count);
        self.idle.set(yields);
        if yields < YIELDS_BEFORE_SLEEP {
            return yields <= self.limit;
        }
        if before < YIELDS_BEFORE_SLEEP {
            watched.set_idle(true);
        } else if self.sleeps && yields / YIELDS_PER_SLEEP != before / YIELDS_PER_SLEEP {
            let begin = Instant::now();
            std::thread::sleep(SLEEP);
            watched.note_slept(begin.elapsed());
        }
        yields <= self.limit
    }
}

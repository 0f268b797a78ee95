//! How long an exchange may take.

use std::time::{Duration, Instant};

/// A moment after which nothing waits any more.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    pub fn after(timeout: Duration) -> Self {
        /// More than any program runs for; a sum of moments must not overflow.
        const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
        Self(Instant::now() + timeout.min(LONGEST))
    }

    /// The time that is left, more than none; `None` if none is.
    pub fn left(self) -> Option<Duration> {
        let left = self.0.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}

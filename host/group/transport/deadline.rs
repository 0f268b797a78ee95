//! How long an exchange may take.

use std::time::{Duration, Instant};

/// The time at which waiting ends.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    pub fn after(timeout: Duration) -> Self {
        /// Longer than any program runs, so that sums of times do not overflow.
        const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
        Self(Instant::now() + timeout.min(LONGEST))
    }

    /// The time that is left; `None` if none is.
    pub fn left(self) -> Option<Duration> {
        let left = self.0.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}

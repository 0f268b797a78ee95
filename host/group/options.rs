//! Options of a group of several processes.

use std::time::Duration;

/// Options of a group of several processes.
#[derive(Clone, Copy, Debug)]
pub struct GroupOptions {
    timeout: Duration,
}

impl GroupOptions {
    /// Sets how long a rank waits for others in one call: 30 seconds, if not given.
    ///
    /// After that the call fails with [`GroupError::PeerTimeout`](crate::GroupError::PeerTimeout).
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }
}

impl Default for GroupOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
        }
    }
}

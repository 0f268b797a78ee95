//! How the processes of a group treat one another.

use std::time::Duration;

/// How the processes of a group treat one another.
#[derive(Clone, Copy, Debug)]
pub struct GroupOptions {
    timeout: Duration,
}

impl GroupOptions {
    /// How long a rank waits for others, in one call, before the call is
    /// [`GroupError::PeerTimeout`](crate::GroupError::PeerTimeout): 30 seconds, if not given.
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

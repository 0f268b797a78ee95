//! Options of a group of several processes, and how many there can be.

use crate::error::{GroupError, Outcome};
use std::time::Duration;

/// The most ranks of a group. Each rank has a connection to each other one, and transports number ranks with 32 bits.
pub(super) const MAX_RANKS: usize = 1 << 16;

/// Fails if a group cannot have this many ranks.
pub(super) fn check_ranks(ranks: usize) -> Outcome<()> {
    match ranks {
        0 => Err(GroupError::NoDevices.into()),
        1..=MAX_RANKS => Ok(()),
        _ => Err(GroupError::TooManyRanks {
            ranks,
            most: MAX_RANKS,
        }
        .into()),
    }
}

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

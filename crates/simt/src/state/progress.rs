//! Numbers of a worker's progress.

/// No number of a worker's progress.
pub(crate) const NEVER: u64 = u64::MAX;

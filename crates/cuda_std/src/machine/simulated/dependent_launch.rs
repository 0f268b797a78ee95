//! Launches that depend on others.

pub use simt::dependent_launch_wait;

/// Lets the launches behind begin, once all blocks have made the call or ended: one runs after the other.
pub fn dependent_launch_trigger() {}

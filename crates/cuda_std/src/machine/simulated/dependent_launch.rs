//! Launches that depend on others.

/// Waits until the launches before have ended, and what they have written is visible.
#[track_caller]
pub fn dependent_launch_wait() {
    simt::dependent_launch_wait();
}

/// Lets the launches behind begin, once all blocks have made the call or ended: one runs after the other.
pub fn dependent_launch_trigger() {}

//! Launches that depend on others.

/// Waits until the launches before have ended and their writes are visible.
#[track_caller]
pub fn dependent_launch_wait() {
    simt::dependent_launch_wait();
}

/// Does nothing: launches run one after the other.
pub fn dependent_launch_trigger() {}

//! Launches that begin while the ones before them still run (`griddepcontrol` of the PTX ISA).
//!
//! The simulator runs one launch after the other, so nothing waits here. Instead, a thread that accesses global
//! memory before its wait, or ends without one, is a finding, whatever the previous launch has written.

use crate::basics::{CallSite, DefectKind};
use crate::block::{Block, Thread};
use crate::current::instruction;
use std::fmt;

/// Waits for the launches before the running one (`griddepcontrol.wait`).
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn dependent_launch_wait() {
    instruction(|thread, _, _| thread.has_waited.set(true));
}

impl Block {
    /// Ends the launch if `thread` accesses global memory, by `what`, before its wait.
    #[inline]
    pub(super) fn check_has_waited(
        &self,
        thread: &Thread,
        what: impl fmt::Display,
        site: CallSite,
    ) {
        if self.must_wait(thread) && self.active_check().is_some() {
            let message = format!(
                "{what} of global memory before the thread has waited for the launches before, which may \
                 still run"
            );
            self.fail(thread, DefectKind::MissingLaunchWait, message, site);
        }
    }
}

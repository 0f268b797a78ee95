//! The running thread itself: its position, yielding to others, and ending the launch.

use crate::basics::{DefectKind, Finding, Position};
use crate::current::{instruction, is_simulated_thread, try_instruction, with_current};
use crate::device::Profile;

/// Calls `action` with enough stack and without interruption, if a simulated thread is running.
///
/// For code that may run in a kernel and takes a lock that must not stay locked, such as code of a destructor.
pub fn uninterrupted<R>(action: impl FnOnce() -> R) -> R {
    let mut action = Some(action);
    let mut call = || action.take().map(|action| action());
    let result = match try_instruction(None, |_, _| call()) {
        Some(result) => result,
        None => call(),
    };
    match result {
        Some(result) => result,
        None => unreachable!("the action is called once"),
    }
}

/// The indices and extents of the running thread.
///
/// # Panics
///
/// Outside of a launch.
#[inline]
#[track_caller]
pub fn position() -> Position {
    with_current(|thread, _| thread.position)
}

/// The device that the launch simulates.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn profile() -> Profile {
    with_current(|_, block| block.profile)
}

/// Lets other warps of the block run: for loops that wait for another thread.
///
/// A block whose threads do nothing but yield, [`Options::yield_limit`] times
/// in a row, is reported as a deadlock.
///
/// [`Options::yield_limit`]: crate::Options::yield_limit
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn yield_now() {
    instruction(|thread, block, site| block.yield_thread(thread, 1, site));
}

/// Ends the launch with this defect at the caller's line.
///
/// # Panics
///
/// Outside of a launch, with the message.
#[cold]
#[track_caller]
pub fn fail(kind: DefectKind, message: String) -> ! {
    if !is_simulated_thread() {
        panic!("{kind}: {message}");
    }
    instruction(|thread, block, site| block.fail(thread, kind, message, site))
}

/// Ends the launch if a simulated thread calls it: `operation` is for the host alone.
///
/// It might wait for the launch that the thread belongs to.
#[inline]
pub fn refuse_host_call(operation: &str) {
    if is_simulated_thread() {
        host_call(operation);
    }
}

#[cold]
fn host_call(operation: &str) {
    try_instruction(None, |thread, block| {
        let message =
            format!("a thread of the kernel calls `{operation}`: do it before or after the launch");
        let finding = Finding::of(&thread.position, DefectKind::HostCall, message);
        block.fail_with(thread, finding)
    });
}

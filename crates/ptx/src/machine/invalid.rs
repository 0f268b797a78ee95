//! Instructions that are not valid where they are.

use simt::DefectKind;

/// Ends the launch.
#[cold]
#[track_caller]
pub(super) fn invalid(message: impl Into<String>) -> ! {
    simt::fail(DefectKind::InvalidArgument, message.into())
}

//! The streams of a device.

use super::events::EventHandle;
use crate::error::Outcome;
use crate::stream_set::{StreamNumber, StreamSet};

/// The place of a stream among those of its device.
///
/// Requirement numbers are those of [`Backend`](super::Backend).
pub(crate) trait DeviceStreams {
    /// This stream's number.
    fn stream(&self) -> StreamNumber;

    /// The identity of the device, which its streams share and no other device has while it is open.
    fn identity(&self) -> usize;

    /// Makes later work of this stream wait for the earlier work of `others`. Numbers without a stream are skipped.
    fn wait_for(&self, others: StreamSet) -> Outcome<()>;

    /// Makes later work of this stream wait for an event, which may be one of another stream or device.
    ///
    /// # Safety
    /// Requirement 3 of the trait.
    unsafe fn wait_for_event(&self, event: EventHandle) -> Outcome<()>;
}

/// The order in which a GPU with several streams starts blocks that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamPriority {
    /// The priority of a device's first stream.
    #[default]
    Normal,
    /// Blocks of this stream start before those of streams of normal priority.
    High,
}

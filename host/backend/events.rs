//! Moments in the work of a device.

use crate::error::Outcome;

/// Moments in the work of a device.
///
/// The requirements of [`Backend`](super::Backend) hold by their numbers.
pub(crate) trait DeviceEvents {
    /// Marks this moment in the device's work.
    fn record_event(&self) -> Outcome<EventHandle>;

    /// Whether the device's work has come to the event.
    ///
    /// # Safety
    /// Requirement 3 of the trait.
    unsafe fn event_has_come(&self, event: EventHandle) -> Outcome<bool>;

    /// Waits until the device's work has come to the event.
    ///
    /// # Safety
    /// Requirement 3 of the trait.
    unsafe fn synchronize_event(&self, event: EventHandle) -> Outcome<()>;

    /// The seconds between two events that the device's work has come to.
    ///
    /// # Safety
    /// Requirement 3 of the trait, for both events.
    unsafe fn seconds_between(&self, earlier: EventHandle, later: EventHandle) -> Outcome<f64>;

    /// Gives an event back; it never panics.
    ///
    /// # Safety
    /// Requirement 3 of the trait; the event is not used again.
    unsafe fn destroy_event(&self, event: EventHandle);
}

/// An event of a backend: whatever 64 bits the backend finds it by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventHandle(pub(crate) u64);

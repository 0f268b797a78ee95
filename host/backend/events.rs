//! Events: moments in the work of a device.

use crate::error::Outcome;

/// Events: moments in the work of a device.
///
/// Requirement numbers are those of [`Backend`](super::Backend).
pub(crate) trait DeviceEvents {
    /// Records an event after the work submitted so far.
    fn record_event(&self) -> Outcome<EventHandle>;

    /// Records an event without a time after the work submitted so far: reuses `event`, or makes a new one.
    ///
    /// # Safety
    /// Requirement 3 of the trait, for `event`.
    unsafe fn record_untimed_event(&self, event: Option<EventHandle>) -> Outcome<EventHandle>;

    /// Whether the device's work has reached the event.
    ///
    /// # Safety
    /// Requirement 3 of the trait.
    unsafe fn event_has_come(&self, event: EventHandle) -> Outcome<bool>;

    /// Waits until the device's work has reached the event.
    ///
    /// # Safety
    /// Requirement 3 of the trait.
    unsafe fn synchronize_event(&self, event: EventHandle) -> Outcome<()>;

    /// The seconds between two events that the device's work has reached.
    ///
    /// # Safety
    /// Requirement 3 of the trait, for both events.
    unsafe fn seconds_between(&self, earlier: EventHandle, later: EventHandle) -> Outcome<f64>;

    /// Destroys an event; never panics.
    ///
    /// # Safety
    /// Requirement 3 of the trait; the event is not used again.
    unsafe fn destroy_event(&self, event: EventHandle);
}

/// An event of a backend: 64 bits that identify it to the backend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventHandle(pub(crate) u64);

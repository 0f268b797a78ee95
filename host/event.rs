//! Events: moments in the work of a stream, for timing and waiting.

use crate::backend::EventHandle;
use crate::device::Device;
use crate::error::{During, Outcome, Result};
use std::time::Duration;

/// A moment in the work of a device's stream, reached when all work submitted before [`Device::record_event`] is complete.
///
/// On CUDA these are CUDA events, with a resolution of about half a microsecond. On the simulator they are times of
/// the host's monotonic clock.
///
/// ```
/// use tilewright::Device;
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let x = device.upload(&[1.0_f32; 1000])?;
/// let before = device.record_event()?;
/// device.reduce_sum(&x)?;
/// let after = device.record_event()?;
/// println!("{:?}", after.elapsed_since(&before)?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Event {
    device: Device,
    handle: EventHandle,
}

impl Device {
    /// Records an event after the work submitted so far.
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`].
    pub fn record_event(&self) -> Result<Event> {
        Event::record(self).during("record_event")
    }
}

impl Event {
    pub(crate) fn record(device: &Device) -> Outcome<Self> {
        let handle = device.backend().record_event()?;
        Ok(Self {
            device: device.clone(),
            handle,
        })
    }

    /// Records an event for waiting only, without a time.
    pub(crate) fn record_untimed(device: &Device) -> Outcome<Self> {
        // SAFETY: there is no handle yet.
        let handle = unsafe { device.backend().record_untimed_event(None) }?;
        Ok(Self {
            device: device.clone(),
            handle,
        })
    }

    /// An event without a time, recorded again after the work that `device` has submitted so far.
    pub(crate) fn recorded_again(mut self, device: &Device) -> Outcome<Self> {
        if !device.is_same(&self.device) {
            return Self::record_untimed(device);
        }
        // SAFETY: a live handle: it is this event's own, and only `drop` destroys it.
        self.handle = unsafe { device.backend().record_untimed_event(Some(self.handle)) }?;
        Ok(self)
    }

    /// Whether the device's work has reached this event; does not wait.
    ///
    /// On the simulator it always has: work is complete when the call that submits it returns.
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`] if the work before the event failed.
    pub fn is_done(&self) -> Result<bool> {
        // SAFETY: a live handle: it is this event's own, and only `drop` destroys it.
        unsafe { self.device.backend().event_has_come(self.handle) }.during("is_done")
    }

    /// Waits until the device's work has reached this event.
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`] if the work before the event failed.
    pub fn synchronize(&self) -> Result<()> {
        self.wait().during("synchronize")
    }

    /// Makes later work of `stream` wait for this event.
    pub(crate) fn let_wait(&self, stream: &Device) -> Outcome<()> {
        match stream.is_same(&self.device) {
            // SAFETY: a live handle: it is this event's own, and only `drop` destroys it.
            true => unsafe { stream.backend().wait_for_event(self.handle) },
            false => self.wait(),
        }
    }

    pub(crate) fn wait(&self) -> Outcome<()> {
        // SAFETY: a live handle: it is this event's own, and only `drop` destroys it.
        unsafe { self.device.backend().synchronize_event(self.handle) }
    }

    /// Waits for this event, and returns the device's time between `earlier` and this event.
    ///
    /// The time is zero if `earlier` is in fact the later event.
    ///
    /// # Errors
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if the events are on different devices, and those of
    /// [`Device::synchronize`] if the work before one of them failed.
    pub fn elapsed_since(&self, earlier: &Self) -> Result<Duration> {
        self.time_since(earlier).during("elapsed_since")
    }

    fn time_since(&self, earlier: &Self) -> Outcome<Duration> {
        self.device
            .check_owns(|| "the earlier event".to_owned(), &earlier.device)?;
        earlier.wait()?;
        self.wait()?;
        // SAFETY: live handles: both are of this device, and both events are still alive.
        let seconds = unsafe {
            self.device
                .backend()
                .seconds_between(earlier.handle, self.handle)?
        };
        Ok(Duration::from_secs_f64(seconds.max(0.0)))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: a live handle, not used again: it is this event's own, and nothing can use it after `drop`.
        unsafe { self.device.backend().destroy_event(self.handle) }
    }
}

//! Events of a simulated device: times of the host's clock.

use super::Simulator;
use crate::backend::{DeviceEvents, EventHandle};
use crate::error::Outcome;

impl DeviceEvents for Simulator {
    fn record_event(&self) -> Outcome<EventHandle> {
        simt::refuse_host_call("record_event");
        let nanoseconds = self.epoch.elapsed().as_nanos();
        Ok(EventHandle(u64::try_from(nanoseconds).unwrap_or(u64::MAX)))
    }

    unsafe fn event_has_come(&self, _event: EventHandle) -> Outcome<bool> {
        Ok(true)
    }

    unsafe fn synchronize_event(&self, _event: EventHandle) -> Outcome<()> {
        Ok(())
    }

    unsafe fn seconds_between(&self, earlier: EventHandle, later: EventHandle) -> Outcome<f64> {
        Ok(later.0.saturating_sub(earlier.0) as f64 * 1e-9)
    }

    unsafe fn destroy_event(&self, _event: EventHandle) {}
}

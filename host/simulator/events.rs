//! Events of a simulated device: times of the host's clock, and places in the order of streams.

use super::Simulator;
use crate::backend::{DeviceEvents, EventHandle};
use crate::error::Outcome;

impl DeviceEvents for Simulator {
    fn record_event(&self) -> Outcome<EventHandle> {
        simt::refuse_host_call("record_event");
        let nanoseconds = self.machine.epoch.elapsed().as_nanos();
        let event = self.machine.streams().record(self.stream, nanoseconds);
        Ok(event)
    }

    unsafe fn record_untimed_event(&self, event: Option<EventHandle>) -> Outcome<EventHandle> {
        if let Some(event) = event {
            self.machine.streams().forget(event);
        }
        self.record_event()
    }

    unsafe fn event_has_come(&self, _event: EventHandle) -> Outcome<bool> {
        Ok(true)
    }

    unsafe fn synchronize_event(&self, _event: EventHandle) -> Outcome<()> {
        Ok(())
    }

    unsafe fn seconds_between(&self, earlier: EventHandle, later: EventHandle) -> Outcome<f64> {
        simt::refuse_host_call("elapsed_since");
        let streams = self.machine.streams();
        let [earlier, later] = [earlier, later].map(|event| streams.nanoseconds(event));
        Ok(later.saturating_sub(earlier) as f64 * 1e-9)
    }

    unsafe fn destroy_event(&self, event: EventHandle) {
        simt::uninterrupted(|| self.machine.streams().forget(event));
    }
}

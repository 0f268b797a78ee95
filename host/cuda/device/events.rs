//! Events of a CUDA device.

use super::CudaDevice;
use crate::backend::{DeviceEvents, EventHandle};
use crate::cuda::context::untimed_event;
use crate::cuda::driver::{Failure, call};
use crate::error::Outcome;
use cuda_bindings::driver::sys;
use std::ptr;

impl DeviceEvents for CudaDevice {
    fn record_event(&self) -> Outcome<EventHandle> {
        self.run(|_current| {
            let mut event = ptr::null_mut();
            // SAFETY: `event` is valid for one handle; flags 0 request an event with a time.
            unsafe { call!(cuEventCreate(&raw mut event, 0)) }?;
            // SAFETY: event and stream are alive, and of the same context.
            unsafe { call!(cuEventRecord(event, self.stream.raw())) }?;
            Ok(event_handle(event))
        })
    }

    unsafe fn record_untimed_event(&self, event: Option<EventHandle>) -> Outcome<EventHandle> {
        self.run(|_current| {
            let event = event.map_or_else(untimed_event, |event| Ok(raw_event(event)))?;
            // SAFETY: event and stream are alive, and of the same context: the event is new, or by the caller's
            // contract.
            unsafe { call!(cuEventRecord(event, self.stream.raw())) }?;
            Ok(event_handle(event))
        })
    }

    unsafe fn event_has_come(&self, event: EventHandle) -> Outcome<bool> {
        self.run(|_current| {
            // SAFETY: the event is alive: the caller's contract.
            match unsafe { call!(cuEventQuery(raw_event(event))) } {
                Err(Failure::NOT_READY) => Ok(false),
                has_come => has_come.map(|()| true),
            }
        })
    }

    unsafe fn synchronize_event(&self, event: EventHandle) -> Outcome<()> {
        self.run(|_current| {
            // SAFETY: the event is alive: the caller's contract.
            let waited = unsafe { call!(cuEventSynchronize(raw_event(event))) };
            self.gpu.modules.outputs.print(false);
            waited
        })
    }

    unsafe fn seconds_between(&self, earlier: EventHandle, later: EventHandle) -> Outcome<f64> {
        self.run(|_current| {
            let (earlier, later) = (raw_event(earlier), raw_event(later));
            let mut milliseconds = 0.0_f32;
            let place = &raw mut milliseconds;
            // SAFETY: `place` is valid for one number; both events are alive: the caller's contract.
            unsafe { call!(cuEventElapsedTime(place, earlier, later)) }?;
            Ok(f64::from(milliseconds) * 1e-3)
        })
    }

    unsafe fn destroy_event(&self, event: EventHandle) {
        let _ = self.run(|_current| {
            // SAFETY: the event is alive, and this is its last use: the caller's contract.
            unsafe { call!(cuEventDestroy_v2(raw_event(event))) }
        });
    }
}

fn event_handle(event: sys::CUevent) -> EventHandle {
    EventHandle(event.expose_provenance() as u64)
}

pub(super) fn raw_event(event: EventHandle) -> sys::CUevent {
    ptr::with_exposed_provenance_mut(event.0 as usize)
}

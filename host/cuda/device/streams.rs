//! The streams of a CUDA device.

use super::CudaDevice;
use super::events::raw_event;
use crate::backend::{DeviceStreams, EventHandle};
use crate::cuda::driver::call;
use crate::error::Outcome;
use crate::stream_set::{StreamNumber, StreamSet};
use std::sync::Arc;

impl DeviceStreams for CudaDevice {
    fn stream(&self) -> StreamNumber {
        self.number
    }

    fn identity(&self) -> usize {
        Arc::as_ptr(&self.gpu).addr()
    }

    fn wait_for(&self, others: StreamSet) -> Outcome<()> {
        self.run(|current| self.gpu.streams.wait_for(others, &self.stream, current))
    }

    unsafe fn wait_for_event(&self, event: EventHandle) -> Outcome<()> {
        self.run(|_current| {
            // SAFETY: the stream is alive, and so is the event: the caller's contract. The flags are 0, as required.
            unsafe { call!(cuStreamWaitEvent(self.stream.raw(), raw_event(event), 0)) }
        })
    }
}

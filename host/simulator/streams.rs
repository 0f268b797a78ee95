//! The streams of a simulated device, whose work is done when the call that submits it returns.

use super::Simulator;
use crate::backend::{DeviceStreams, EventHandle};
use crate::error::Outcome;
use crate::stream_set::{StreamNumber, StreamSet};
use std::sync::Arc;

impl DeviceStreams for Simulator {
    fn stream(&self) -> StreamNumber {
        self.stream
    }

    fn identity(&self) -> usize {
        Arc::as_ptr(&self.machine).addr()
    }

    fn wait_for(&self, others: StreamSet) -> Outcome<()> {
        // If a kernel that drops a buffer is stopped, the lock must not stay locked.
        simt::uninterrupted(|| self.machine.streams().wait_for(self.stream, others));
        Ok(())
    }

    unsafe fn wait_for_event(&self, event: EventHandle) -> Outcome<()> {
        simt::refuse_host_call("wait_for");
        self.machine.streams().wait_for_event(self.stream, event);
        Ok(())
    }
}

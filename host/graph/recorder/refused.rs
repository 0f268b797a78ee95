//! Calls that no graph can record.

use super::{OTHERS, Recorder, WAITS};
use crate::backend::*;
use crate::error::Outcome;
use crate::scratch::Mapped;

impl DeviceResults for Recorder {
    fn allocate_mapped(&self, _bytes: usize) -> Outcome<Mapped> {
        self.refuse("a result for the host", WAITS)
    }

    unsafe fn read_mapped(&self, _destination: &mut [u8], _source: Mapped) -> Outcome<()> {
        self.refuse("a result for the host", WAITS)
    }
}

impl DeviceTextures for Recorder {
    fn create_texture(&self, _request: &TextureRequest<'_>) -> Outcome<TextureHandle> {
        self.refuse("a texture", WAITS)
    }

    unsafe fn destroy_texture(&self, texture: TextureHandle) {
        // SAFETY: the caller's contract.
        unsafe { self.backend().destroy_texture(texture) }
    }
}

impl DeviceEvents for Recorder {
    fn record_event(&self) -> Outcome<EventHandle> {
        self.refuse("an event", OTHERS)
    }

    unsafe fn record_untimed_event(&self, _event: Option<EventHandle>) -> Outcome<EventHandle> {
        self.refuse("an event", OTHERS)
    }

    unsafe fn event_has_come(&self, _event: EventHandle) -> Outcome<bool> {
        self.refuse("an event", OTHERS)
    }

    unsafe fn synchronize_event(&self, _event: EventHandle) -> Outcome<()> {
        self.refuse("an event", OTHERS)
    }

    unsafe fn seconds_between(&self, _earlier: EventHandle, _later: EventHandle) -> Outcome<f64> {
        self.refuse("an event", OTHERS)
    }

    unsafe fn destroy_event(&self, event: EventHandle) {
        // SAFETY: the caller's contract.
        unsafe { self.backend().destroy_event(event) }
    }
}

impl DeviceGraphs for Recorder {
    fn start_capture(&self) -> Outcome<()> {
        self.refuse("another capture", OTHERS)
    }

    fn end_capture(&self) -> Outcome<GraphHandle> {
        self.refuse("another capture", OTHERS)
    }

    unsafe fn launch_graph(&self, _graph: GraphHandle) -> Outcome<()> {
        self.refuse("a launch of a graph", OTHERS)
    }

    unsafe fn destroy_graph(&self, graph: GraphHandle) {
        // SAFETY: the caller's contract.
        unsafe { self.backend().destroy_graph(graph) }
    }
}

impl DevicePeers for Recorder {
    fn open_to_peer(&self, _peer: &dyn DeviceMemory) -> Outcome<()> {
        self.refuse("a copy between devices", OTHERS)
    }

    unsafe fn start_copy_from_peer(
        &self,
        _destination: u64,
        _peer: &dyn DeviceMemory,
        _source: u64,
        _bytes: usize,
    ) -> Outcome<()> {
        self.refuse("a copy between devices", OTHERS)
    }

    #[cfg(feature = "cuda")]
    fn start_transfers(&self) -> Outcome<()> {
        self.refuse("a transfer between devices", OTHERS)
    }
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use crate::device::Device;

    /// They would run at once, unordered with the recorded work.
    #[test]
    fn transfers_of_a_group_are_not_recorded() {
        let device = Device::simulator();
        let operand = device.zeros::<u32>(1).unwrap();
        let graph = device.capture(operand, |stream, _| {
            stream.backend().start_transfers().unwrap_err();
            Ok(())
        });
        let error = graph.unwrap_err().to_string();
        assert!(error.contains("whose error was ignored"), "{error}");
    }
}

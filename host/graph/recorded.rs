//! The work of a graph.

use crate::backend::GraphHandle;
use crate::device::Device;
use crate::scratch::Allocation;

/// The recorded work, and the memory that was allocated for it.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) stream: Device,
    pub(super) handle: GraphHandle,
    pub(super) memory: Vec<Allocation>,
}

impl Drop for Recorded {
    fn drop(&mut self) {
        let backend = self.stream.backend();
        // SAFETY: the handle is alive and of this stream, and not used again.
        unsafe { backend.destroy_graph(self.handle) };
        free(&self.stream, &self.memory);
    }
}

/// Frees memory that was allocated while recording, after the graph's work.
pub(super) fn free(stream: &Device, memory: &[Allocation]) {
    for &Allocation { address, bytes } in memory {
        // SAFETY: a live allocation of the device, not used again: its buffer was dropped, and no graph uses it any
        // more.
        unsafe { stream.backend().free(address, bytes) };
    }
}

//! Recorded work of a stream, to be run repeatedly.

use crate::error::Outcome;

/// Recording of a stream's work.
///
/// Requirement numbers are those of [`Backend`](super::Backend).
pub(crate) trait DeviceGraphs {
    /// Waits for the stream's work, and from then on records what is submitted instead of running it: launches, copies
    /// on the device and fills. Until [`end_capture`](Self::end_capture), other streams do not wait for this one, and
    /// the caller submits nothing else, waits for nothing and frees nothing. New allocations can be used at once.
    fn start_capture(&self) -> Outcome<()>;

    /// Ends the recording, and makes a graph of it.
    fn end_capture(&self) -> Outcome<GraphHandle>;

    /// Submits the work of a graph that this stream has recorded.
    ///
    /// # Safety
    /// 1. The requirements of all recorded work: live memory, no conflicting work, and the kernels' own requirements.
    /// 2. Requirement 3 of the trait.
    unsafe fn launch_graph(&self, graph: GraphHandle) -> Outcome<()>;

    /// Destroys a graph, after the work that it submitted; never panics.
    ///
    /// # Safety
    /// Requirement 3 of the trait; the graph is not used again.
    unsafe fn destroy_graph(&self, graph: GraphHandle);
}

/// A graph of a backend: 64 bits that identify it to the stream that recorded it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GraphHandle(pub(crate) u64);

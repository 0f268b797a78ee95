//! The abilities of a device, on which the rest of the host library is built.

mod events;
mod graphs;
mod kernels;
mod memory;
mod peers;
mod results;
mod streams;
mod tensor_maps;
mod textures;

pub(crate) use events::{DeviceEvents, EventHandle};
pub(crate) use graphs::{DeviceGraphs, GraphHandle};
pub(crate) use kernels::{DeviceKernels, Entry, LaunchRequest, ResidencyRequest, SymbolRequest};
pub use memory::MemoryUse;
pub(crate) use memory::{DeviceMemory, RowExtent, Rows};
pub(crate) use peers::{DevicePeers, copy_through_host};
pub(crate) use results::DeviceResults;
pub(crate) use streams::DeviceStreams;
pub use streams::StreamPriority;
pub(crate) use tensor_maps::{DeviceTensorMaps, TensorMapBatch, TensorMapRequest};
pub(crate) use textures::{DeviceTextures, TextureHandle, TextureRequest};

use crate::capture::Capture;
use crate::error::Outcome;
use crate::properties::DeviceProperties;
use crate::report::LaunchRecorder;
use crate::scratch::Scratch;
use std::ffi::c_void;
use std::fmt::Debug;
use std::ptr::NonNull;
use std::sync::Arc;

/// One stream of a machine that runs kernels: of the simulator or of a CUDA device.
///
/// Addresses are device addresses, sizes are in bytes. Work of a stream runs in the order in which it was submitted,
/// whichever thread submitted it. Copies from and to host memory are complete when the call returns.
///
/// Requirements that the unsafe methods share:
/// 1. Live memory: every address range is inside one live allocation of this backend.
/// 2. No conflicting work: no other thread meanwhile submits work that writes memory which this call reads, or that
///    accesses memory which this call writes, and this stream waits for such work of other streams.
/// 3. Live handles: every handle came from this backend and was not destroyed.
pub(crate) trait Backend:
    DeviceMemory
    + DeviceResults
    + DeviceTextures
    + DeviceTensorMaps
    + DeviceEvents
    + DeviceStreams
    + DeviceGraphs
    + DeviceKernels
    + DevicePeers
    + Send
    + Sync
    + Debug
{
    /// Limits and names, read once when the device was opened.
    fn properties(&self) -> &DeviceProperties;

    /// Whether this is the simulator.
    fn is_simulator(&self) -> bool;

    /// The device's name, with its number among devices of that name, for messages.
    fn label(&self) -> String;

    /// A new stream of the device, whose work runs after the earlier work of all others.
    fn new_stream(&self, priority: StreamPriority) -> Outcome<Arc<dyn Backend>>;

    /// Waits until all work submitted to the stream is complete, and reports its failures.
    fn synchronize(&self) -> Outcome<()>;

    /// The driver's handle of the stream, for other libraries; `None` for the simulator.
    fn raw_stream(&self) -> Option<NonNull<c_void>>;

    /// The recorder of launches; `None` if the device cannot count them.
    fn recorder(&self) -> Option<&LaunchRecorder> {
        None
    }

    /// Order with streams of other code on the same GPU; `None` for the simulator.
    #[cfg(feature = "cuda")]
    fn foreign_streams(&self) -> Option<&dyn ForeignStreams> {
        None
    }

    /// The device's exchange with other users of its context; `None` if it has none.
    #[cfg(feature = "cust")]
    fn exchange(&self) -> Option<&dyn Exchange> {
        None
    }

    /// The capture that records what is submitted to this stream; `None` if it runs.
    fn capture(&self) -> Option<&Capture> {
        None
    }

    /// Memory that this stream keeps for its reductions.
    fn scratch(&self) -> &Scratch;

    /// Runs `body` with the device's context current on the calling thread.
    fn with_current(&self, body: &mut dyn FnMut()) -> Outcome<()>;
}

/// A GPU that other code of the process also uses, in its own streams.
#[cfg(feature = "cuda")]
pub(crate) trait ForeignStreams {
    /// The device's number among the driver's.
    #[cfg(feature = "dlpack")]
    fn ordinal(&self) -> i32;

    /// The same device in `stream`, whose later work waits for the earlier work of the device.
    ///
    /// # Safety
    /// 1. `stream` is a live stream of the context, or null for its null stream. It outlives the result.
    unsafe fn with_stream(&self, stream: *mut c_void) -> Outcome<Arc<dyn Backend>>;

    /// Makes later work of this device wait for the earlier work of `stream`.
    ///
    /// # Safety
    /// 1. `stream` is a live stream of the context, or null for its null stream, which itself waits for all streams
    ///    except the non-blocking ones.
    unsafe fn wait_for_stream(&self, stream: *mut c_void) -> Outcome<()>;

    /// Makes later work of `stream` wait for the earlier work of this device.
    ///
    /// # Safety
    /// 1. `stream` is a live stream, or null for the context's null stream.
    unsafe fn let_stream_wait(&self, stream: *mut c_void) -> Outcome<()>;
}

/// A device whose memory comes directly from the driver, so that other users of its context can free it or pass in
/// theirs.
#[cfg(feature = "cust")]
pub(crate) trait Exchange: ForeignStreams {
    /// Fails unless the memory at `address` is device memory of this context.
    fn check_memory(&self, address: u64) -> Outcome<()>;
}

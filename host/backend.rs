//! What a device has to be able to do; everything else in the host library is built on it.

mod events;
mod kernels;
mod memory;
mod peers;
mod results;
mod tensor_maps;
mod textures;

pub(crate) use events::{DeviceEvents, EventHandle};
pub(crate) use kernels::{DeviceKernels, Entry, LaunchRequest, ResidencyRequest, SymbolRequest};
pub(crate) use memory::{DeviceMemory, RowExtent, Rows};
pub(crate) use peers::{DevicePeers, copy_through_host};
pub(crate) use results::DeviceResults;
pub(crate) use tensor_maps::{DeviceTensorMaps, TensorMapBatch, TensorMapRequest};
pub(crate) use textures::{DeviceTextures, TextureHandle, TextureRequest};

use crate::error::Outcome;
use crate::properties::DeviceProperties;
use crate::report::LaunchRecorder;
use crate::scratch::Scratch;
use std::ffi::c_void;
use std::fmt::Debug;
use std::ptr::NonNull;

/// A machine that runs kernels: the simulator or one CUDA device.
///
/// Addresses are device addresses, sizes are bytes. Work is executed in the order in
/// which it was submitted, whichever thread submitted it; copies from and to host memory are
/// complete when the call returns.
///
/// Requirements that the unsafe methods share, numbered for their callers:
/// 1. Every address range is inside one live allocation of this backend.
/// 2. No other thread submits conflicting work at the same time: work that writes what this call
///    reads, or accesses what it writes.
/// 3. Every handle came from this backend and was not destroyed.
pub(crate) trait Backend:
    DeviceMemory
    + DeviceResults
    + DeviceTextures
    + DeviceTensorMaps
    + DeviceEvents
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

    /// The device's name with its number among those of that name, for messages.
    fn label(&self) -> String;

    /// Waits until all submitted work is complete, and reports its failures.
    fn synchronize(&self) -> Outcome<()>;

    /// The stream in which all work is queued, for foreign libraries; `None` for the simulator.
    fn raw_stream(&self) -> Option<NonNull<c_void>>;

    /// The recorder of launches; `None` where they cannot be counted.
    fn recorder(&self) -> Option<&LaunchRecorder> {
        None
    }

    /// What the device exchanges with other users of its context; `None` where that is nothing.
    #[cfg(feature = "cust")]
    fn exchange(&self) -> Option<&dyn Exchange> {
        None
    }

    /// The memory that this device keeps for its reductions.
    fn scratch(&self) -> &Scratch;

    /// Runs `body` while the device's context is the current one of the calling thread.
    fn with_current(&self, body: &mut dyn FnMut()) -> Outcome<()>;
}

/// A device whose memory comes straight from the driver, so that other users of its context may take
/// and give it.
#[cfg(feature = "cust")]
pub(crate) trait Exchange {
    /// Fails unless the memory at `address` is device memory of this context.
    fn check_memory(&self, address: u64) -> Outcome<()>;

    /// Makes work that the device is given from now on wait for the work that `stream` was given.
    ///
    /// # Safety
    /// 1. `stream` is a live stream, or null: the context's null stream, which itself waits for all
    ///    streams but the non-blocking ones.
    unsafe fn wait_for_stream(&self, stream: *mut c_void) -> Outcome<()>;

    /// Makes work that `stream` is given from now on wait for the work that the device was given.
    ///
    /// # Safety
    /// 1. `stream` is a live stream.
    unsafe fn let_stream_wait(&self, stream: *mut c_void) -> Outcome<()>;
}

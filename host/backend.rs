//! What a device has to be able to do; everything else in the host library is built on it.

use crate::error::Result;
use crate::launch::LaunchConfig;
use crate::module_source::ModuleSource;
use crate::properties::DeviceProperties;
use crate::report::LaunchRecorder;
use crate::residency::Residency;
use crate::scratch::Scratch;
use cuda_std::kernel::{EntryParams, LaunchBounds};
use cuda_std::signature::Signature;
use simt::{Texels, TextureOptions};
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
pub(crate) trait Backend: Send + Sync + Debug {
    /// Limits and names, read once when the device was opened.
    fn properties(&self) -> &DeviceProperties;

    /// Whether this is the simulator.
    fn is_simulator(&self) -> bool;

    /// Bytes that allocations could have: those that are free, and those that are kept for them.
    fn free_memory(&self) -> Result<u64>;

    /// Allocates `bytes` (more than 0), aligned to 256 bytes, with unspecified contents.
    fn allocate(&self, operation: &'static str, bytes: usize) -> Result<u64>;

    /// Allocates `bytes` (more than 0), aligned to 256 bytes, filled with zero bytes.
    fn allocate_zeroed(&self, operation: &'static str, bytes: usize) -> Result<u64>;

    /// Frees an allocation after the work that was submitted before; it never panics.
    ///
    /// # Safety
    /// 1. `address` and `bytes` are those of one live allocation, which is not used again.
    unsafe fn free(&self, address: u64, bytes: usize);

    /// Copies `source` to the device.
    ///
    /// # Safety
    /// Requirements 1 and 2 of the trait for `source.len()` bytes at `destination`.
    unsafe fn copy_to_device(&self, destination: u64, source: &[u8]) -> Result<()>;

    /// Copies from the device to `destination`.
    ///
    /// # Safety
    /// Requirements 1 and 2 of the trait for `destination.len()` bytes at `source`.
    unsafe fn copy_to_host(&self, destination: &mut [u8], source: u64) -> Result<()>;

    /// Copies between two allocations of the device.
    ///
    /// # Safety
    /// Requirements 1 and 2 of the trait for `bytes` at both addresses, which do not overlap.
    unsafe fn copy_on_device(&self, destination: u64, source: u64, bytes: usize) -> Result<()>;

    /// Fills with zero bytes.
    ///
    /// # Safety
    /// Requirements 1 and 2 of the trait for `bytes` at `address`.
    unsafe fn fill_zero(&self, address: u64, bytes: usize) -> Result<()>;

    /// Allocates `bytes` (more than 0) of page-locked host memory, aligned to 256 bytes and filled
    /// with zero bytes.
    fn allocate_pinned(&self, operation: &'static str, bytes: usize) -> Result<NonNull<u8>>;

    /// Frees page-locked host memory; it never panics.
    ///
    /// # Safety
    /// 1. `first` and `bytes` are those of one live allocation by `allocate_pinned`, which is not
    ///    used again.
    unsafe fn free_pinned(&self, first: NonNull<u8>, bytes: usize);

    /// Makes a texture with copies of the elements; its size and options were checked.
    fn create_texture(&self, request: &TextureRequest<'_>) -> Result<TextureHandle>;

    /// Gives a texture back after the work that was submitted before; it never panics.
    ///
    /// # Safety
    /// Requirement 3 of the trait; the texture is not used again.
    unsafe fn destroy_texture(&self, texture: TextureHandle);

    /// Overwrites a static array with `source`, which is as long.
    ///
    /// # Safety
    /// Requirement 3 of the trait for the module.
    unsafe fn write_symbol(&self, symbol: &SymbolRequest, source: &[u8]) -> Result<()>;

    /// Copies a static array to `destination`, which is as long.
    ///
    /// # Safety
    /// Requirement 3 of the trait for the module.
    unsafe fn read_symbol(&self, symbol: &SymbolRequest, destination: &mut [u8]) -> Result<()>;

    /// Waits until all submitted work is complete, and reports its failures.
    fn synchronize(&self) -> Result<()>;

    /// Marks this moment in the device's work.
    fn record_event(&self) -> Result<EventHandle>;

    /// Whether the device's work has come to the event.
    ///
    /// # Safety
    /// Requirement 3 of the trait.
    unsafe fn event_has_come(&self, event: EventHandle) -> Result<bool>;

    /// Waits until the device's work has come to the event.
    ///
    /// # Safety
    /// Requirement 3 of the trait.
    unsafe fn synchronize_event(&self, event: EventHandle) -> Result<()>;

    /// The seconds between two events that the device's work has come to.
    ///
    /// # Safety
    /// Requirement 3 of the trait, for both events.
    unsafe fn seconds_between(&self, earlier: EventHandle, later: EventHandle) -> Result<f64>;

    /// Gives an event back; it never panics.
    ///
    /// # Safety
    /// Requirement 3 of the trait; the event is not used again.
    unsafe fn destroy_event(&self, event: EventHandle);

    /// Loads a module, or finds it among those that were loaded before.
    fn load(&self, source: &'static ModuleSource) -> Result<ModuleHandle>;

    /// How many blocks of a kernel are resident at once. The shape of its blocks was checked
    /// against the device's properties.
    fn residency(&self, request: &ResidencyRequest<'_>) -> Result<Residency>;

    /// Launches a kernel whose configuration was checked against the device's properties: with
    /// all blocks resident at once if its bounds say so, which was checked, too.
    ///
    /// # Safety
    /// 1. The module came from this backend's `load`, and its entry takes exactly `params` as
    ///    parameters, if it has the signature of `entry`.
    /// 2. `body` runs the same kernel, with the same parameters, as one simulated thread.
    /// 3. Requirements 1 and 2 of the trait for all memory that the kernel touches.
    /// 4. The launch meets the requirements in the kernel's documentation.
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()>;

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

    /// The memory that this device's reductions share.
    fn scratch(&self) -> &Scratch;

    /// Runs `body` while the device's context is the current one of the calling thread.
    fn with_current(&self, body: &mut dyn FnMut()) -> Result<()>;
}

/// A device whose memory comes straight from the driver, so that other users of its context may take
/// and give it.
#[cfg(feature = "cust")]
pub(crate) trait Exchange {
    /// Fails unless the memory at `address` is device memory of this context.
    fn check_memory(&self, operation: &'static str, address: u64) -> Result<()>;

    /// Makes work that the device is given from now on wait for the work that `stream` was given.
    ///
    /// # Safety
    /// 1. `stream` is a live stream, or null: the context's null stream, which itself waits for all
    ///    streams but the non-blocking ones.
    unsafe fn wait_for_stream(&self, operation: &'static str, stream: *mut c_void) -> Result<()>;

    /// Makes work that `stream` is given from now on wait for the work that the device was given.
    ///
    /// # Safety
    /// 1. `stream` is a live stream.
    unsafe fn let_stream_wait(&self, operation: &'static str, stream: *mut c_void) -> Result<()>;
}

/// An event of a backend: whatever 64 bits the backend finds it by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventHandle(pub(crate) u64);

/// A module of a backend: whatever 64 bits the backend finds it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ModuleHandle(pub(crate) u64);

/// A texture of a backend: what kernels know it by, and what holds its elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureHandle {
    pub(crate) object: u64,
    pub(crate) storage: u64,
}

/// A requested texture: `height` rows, or none in one dimension, of `width` elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureRequest<'a> {
    pub(crate) operation: &'static str,
    pub(crate) width: usize,
    pub(crate) height: Option<usize>,
    pub(crate) texels: Texels<'a>,
    pub(crate) options: TextureOptions,
}

/// A static array of a module.
#[cfg_attr(
    not(feature = "cuda"),
    expect(dead_code, reason = "the simulator knows it by its initial values")
)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct SymbolRequest {
    pub(crate) operation: &'static str,
    pub(crate) module: ModuleHandle,
    pub(crate) module_name: &'static str,
    /// The name in the PTX.
    pub(crate) name: &'static str,
    pub(crate) initial: &'static [u8],
}

/// A kernel of a loaded module.
#[cfg_attr(
    not(feature = "cuda"),
    expect(dead_code, reason = "the simulator needs no module")
)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) module: ModuleHandle,
    pub(crate) module_name: &'static str,
    /// The name in the PTX.
    pub(crate) kernel: &'static str,
    /// What the module must say of its entry, unless the entry is taken as it is.
    pub(crate) signature: Option<Signature>,
}

/// A kernel with the shape of its blocks; the grid does not matter.
#[cfg_attr(
    not(feature = "cuda"),
    expect(dead_code, reason = "the simulator needs no module and no name")
)]
pub(crate) struct ResidencyRequest<'a> {
    pub(crate) entry: Entry,
    /// What the kernel's source promised.
    pub(crate) bounds: LaunchBounds,
    pub(crate) config: &'a LaunchConfig,
}

/// One launch, with the kernel's parameters in both forms.
#[cfg_attr(
    not(feature = "cuda"),
    expect(
        dead_code,
        reason = "the simulator needs no module and no addresses of parameters"
    )
)]
pub(crate) struct LaunchRequest<'a> {
    pub(crate) entry: Entry,
    pub(crate) config: LaunchConfig,
    /// What the kernel's source promised.
    pub(crate) bounds: LaunchBounds,
    /// The parameters as the PTX entry takes them.
    pub(crate) params: &'a EntryParams<'a>,
    /// The kernel as one simulated thread runs it.
    pub(crate) body: &'a (dyn Fn() + Sync),
}

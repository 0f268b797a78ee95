//! The simulator as a device: its memory is host memory, its kernels run when they are launched.

use crate::backend::{
    Backend, EventHandle, LaunchRequest, ModuleHandle, SymbolRequest, TextureHandle, TextureRequest,
};
use crate::device::DeviceProperties;
use crate::error::{Error, Result};
use crate::module::ModuleSource;
use crate::report::{LaunchRecorder, most_registers};
use crate::residency::{Residency, ResidencyRequest};
use crate::workspace::Workspace;
use simt::{Contents, Dim3, Profile, StaticMemory};
use std::alloc::{self, Layout};
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What `cudaMalloc` guarantees, which kernels with vector access rely on.
const ALIGNMENT: usize = 256;

/// The byte that fills memory with unspecified contents: every float type reads it as NaN, so a
/// kernel that reads before it writes gives an answer that no test accepts.
const POISON: u8 = 0xFF;

/// Choices that only the simulator has.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SimulatorOptions {
    /// The seed of the order in which warps run. Equal seeds give equal runs.
    pub seed: u64,
    /// Threads in a warp: 32 (the default) or 64.
    pub warp_width: u32,
    /// Whether blocks run on several CPU threads at once.
    pub parallel_blocks: bool,
    /// Multiprocessors that the device has, 8 by default: products choose their tiles by it.
    pub multiprocessors: u32,
    /// Whether memory is checked, as by default: data races, reads of what nobody has written,
    /// asynchronous copies in use. Bounds, alignment, barriers and masks always are.
    pub checks: bool,
    /// Bytes of simulated device memory, 16 GiB by default; pages that are never touched cost
    /// nothing.
    pub memory_bytes: u64,
    /// The device that the simulated one stands for, with its limits. Without one it has the
    /// limits of an H200, the largest that there are, but few multiprocessors.
    pub profile: Option<Profile>,
    /// Whether every launch is counted, for [`Device::launch_report`](crate::Device::launch_report).
    /// Not by default: it takes several times as long.
    pub counters: bool,
}

impl Default for SimulatorOptions {
    fn default() -> Self {
        let simt::Options {
            seed,
            warp_width,
            parallel_blocks,
            checks,
            ..
        } = simt::Options::default();
        Self {
            seed,
            warp_width,
            parallel_blocks,
            multiprocessors: 8,
            checks,
            memory_bytes: 16 << 30,
            profile: None,
            counters: false,
        }
    }
}

impl SimulatorOptions {
    /// The same options with another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The same options with another number of threads in a warp.
    #[must_use]
    pub fn with_warp_width(mut self, warp_width: u32) -> Self {
        self.warp_width = warp_width;
        self
    }

    /// The same options with blocks on several CPU threads at once, or on one after another.
    #[must_use]
    pub fn with_parallel_blocks(mut self, parallel_blocks: bool) -> Self {
        self.parallel_blocks = parallel_blocks;
        self
    }

    /// The same options with another number of multiprocessors.
    #[must_use]
    pub fn with_multiprocessors(mut self, multiprocessors: u32) -> Self {
        self.multiprocessors = multiprocessors;
        self
    }

    /// The same options with the checks of memory, or without them: several times faster.
    #[must_use]
    pub fn with_checks(mut self, checks: bool) -> Self {
        self.checks = checks;
        self
    }

    /// The same options with every launch counted, or only those within
    /// [`Device::with_report`](crate::Device::with_report).
    #[must_use]
    pub fn with_counters(mut self, counters: bool) -> Self {
        self.counters = counters;
        self
    }

    /// The same options with another size of device memory, in bytes.
    #[must_use]
    pub fn with_memory_bytes(mut self, memory_bytes: u64) -> Self {
        self.memory_bytes = memory_bytes;
        self
    }

    /// The same options with the limits of a named device, and with its numbers of threads in a
    /// warp, of multiprocessors and of bytes of memory.
    ///
    /// ```
    /// use tilewright::{Device, Profile, SimulatorOptions};
    ///
    /// let options = SimulatorOptions::default().with_profile(Profile::A100);
    /// let device = Device::simulator_with(options);
    /// assert_eq!(device.name(), "simulator (A100)");
    /// assert_eq!(device.properties().multiprocessors, 108);
    /// ```
    #[must_use]
    pub fn with_profile(mut self, profile: Profile) -> Self {
        let sheet = profile.datasheet();
        self.warp_width = sheet.limits.warp_lanes;
        self.multiprocessors = sheet.multiprocessors;
        self.memory_bytes = sheet.memory_bytes;
        self.profile = Some(profile);
        self
    }
}

/// Freed memory that is kept for a while, so that a kernel that still uses it is found, and not
/// another one that was given the same memory.
#[derive(Debug, Default)]
struct Graveyard {
    /// Addresses and bytes, the oldest first.
    graves: VecDeque<(u64, usize)>,
    bytes: usize,
}

/// How much freed memory is kept.
const KEPT_BYTES: usize = 16 << 20;

/// What a small allocation counts as: at most 1024 are kept, for each makes the list longer that
/// accesses are looked up in.
const LEAST_KEPT_BYTES: usize = KEPT_BYTES / 1024;

impl Graveyard {
    /// Frees an allocation, now or when `most_bytes` others have been freed after it.
    ///
    /// # Safety
    /// 1. The allocation of `bytes` bytes at `address` is live, with [`ALIGNMENT`].
    /// 2. Nobody uses it any more, but for kernels that are wrong.
    unsafe fn bury(&mut self, address: u64, bytes: usize, most_bytes: usize) {
        simt::mark_freed(address as usize, bytes);
        self.graves.push_back((address, bytes));
        self.bytes += bytes.max(LEAST_KEPT_BYTES);
        self.empty(most_bytes);
    }

    /// Gives memory back until at most `most_bytes` are kept.
    fn empty(&mut self, most_bytes: usize) {
        while self.bytes > most_bytes
            && let Some((address, bytes)) = self.graves.pop_front()
        {
            self.bytes -= bytes.max(LEAST_KEPT_BYTES);
            simt::forget_allocation(address as usize, bytes);
            // SAFETY: it was allocated with this layout, by (1) of `bury`.
            let layout = unsafe { Layout::from_size_align_unchecked(bytes, ALIGNMENT) };
            // SAFETY: by (1) and (2) of `bury` it is live and not used again; it is freed once,
            // for it is no longer in the queue.
            unsafe { alloc::dealloc(host_pointer(address), layout) };
        }
    }
}

/// One simulated device.
#[derive(Debug)]
pub(crate) struct Simulator {
    options: simt::Options,
    properties: DeviceProperties,
    allocated_bytes: AtomicU64,
    /// Events count nanoseconds from here.
    epoch: Instant,
    workspace: Workspace,
    recorder: LaunchRecorder,
    freed: Mutex<Graveyard>,
    /// The device whose limits this one has.
    profile: Profile,
    /// The static arrays of each module. Who has it has the device: launches and accesses of
    /// static arrays are done one after another, as in a stream.
    statics: Mutex<HashMap<ModuleHandle, Arc<StaticMemory>>>,
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.workspace.release(self);
        self.graveyard().empty(0);
    }
}

impl Simulator {
    pub(crate) fn new(options: SimulatorOptions) -> Self {
        Self {
            options: simt::Options {
                seed: options.seed,
                warp_width: options.warp_width,
                parallel_blocks: options.parallel_blocks,
                checks: options.checks,
                ..simt::Options::default()
            },
            properties: properties(&options),
            allocated_bytes: AtomicU64::new(0),
            epoch: Instant::now(),
            workspace: Workspace::default(),
            statics: Mutex::default(),
            profile: options.profile.unwrap_or_default(),
            recorder: LaunchRecorder::new(options.profile.unwrap_or_default(), options.counters),
            freed: Mutex::default(),
        }
    }

    /// Takes `bytes` from the simulated memory, or says how much is left.
    fn reserve(&self, operation: &'static str, bytes: usize) -> Result<()> {
        let reserved =
            self.allocated_bytes
                .try_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                    used.checked_add(bytes as u64)
                        .filter(|used| *used <= self.properties.memory_bytes)
                });
        match reserved {
            Ok(_) => Ok(()),
            Err(_) => Err(self.out_of_memory(operation, bytes)),
        }
    }

    fn statics(&self) -> MutexGuard<'_, HashMap<ModuleHandle, Arc<StaticMemory>>> {
        self.statics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn graveyard(&self) -> MutexGuard<'_, Graveyard> {
        self.freed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn release(&self, bytes: usize) {
        self.allocated_bytes
            .fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    fn out_of_memory(&self, operation: &'static str, bytes: usize) -> Error {
        let total = self.properties.memory_bytes;
        Error::OutOfMemory {
            operation,
            device: self.properties.name.clone(),
            requested: bytes as u64,
            free: total.saturating_sub(self.allocated_bytes.load(Ordering::Relaxed)),
            total,
        }
    }
}

impl Backend for Simulator {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn is_simulator(&self) -> bool {
        true
    }

    fn allocate(&self, operation: &'static str, bytes: usize) -> Result<u64> {
        let address = self.allocate_zeroed(operation, bytes)?;
        // SAFETY: the allocation is `bytes` long, and nobody else knows of it yet.
        unsafe { ptr::write_bytes(host_pointer(address), POISON, bytes) };
        simt::register_allocation(address as usize, bytes, Contents::Unspecified);
        Ok(address)
    }

    fn allocate_zeroed(&self, operation: &'static str, bytes: usize) -> Result<u64> {
        assert!(bytes > 0, "empty buffers are not allocated");
        let layout = Layout::from_size_align(bytes, ALIGNMENT)
            .map_err(|_| Error::size_overflow(operation, format!("{bytes} bytes")))?;
        self.reserve(operation, bytes)?;
        // SAFETY: the layout's size is not zero.
        let pointer = unsafe { alloc::alloc_zeroed(layout) };
        if pointer.is_null() {
            let error = self.out_of_memory(operation, bytes);
            self.release(bytes);
            return Err(error);
        }
        let address = pointer.expose_provenance();
        simt::register_allocation(address, bytes, Contents::Written);
        Ok(address as u64)
    }

    unsafe fn free(&self, address: u64, bytes: usize) {
        let kept = if self.options.checks { KEPT_BYTES } else { 0 };
        // SAFETY: (1) and (2) are those of `free`, and `allocate_zeroed` made the layout.
        unsafe { self.graveyard().bury(address, bytes, kept) };
        self.release(bytes);
    }

    unsafe fn copy_to_device(&self, destination: u64, source: &[u8]) -> Result<()> {
        // SAFETY: by (1) and (2) of the trait the destination is live memory that nobody else
        // touches; so it cannot overlap `source`, a borrowed slice.
        unsafe {
            ptr::copy_nonoverlapping(source.as_ptr(), host_pointer(destination), source.len());
        }
        simt::mark_written(destination as usize, source.len());
        Ok(())
    }

    unsafe fn copy_to_host(&self, destination: &mut [u8], source: u64) -> Result<()> {
        // SAFETY: by (1) and (2) of the trait the source is live memory that nobody writes; it
        // cannot overlap `destination`, a slice that is borrowed mutably.
        unsafe {
            ptr::copy_nonoverlapping(
                host_pointer(source),
                destination.as_mut_ptr(),
                destination.len(),
            );
        }
        Ok(())
    }

    unsafe fn copy_on_device(&self, destination: u64, source: u64, bytes: usize) -> Result<()> {
        // SAFETY: by (1) and (2) of the trait both are live memory without conflicting use; by
        // the method's requirement they do not overlap.
        unsafe {
            ptr::copy_nonoverlapping(host_pointer(source), host_pointer(destination), bytes);
        }
        simt::mark_copied(destination as usize, source as usize, bytes);
        Ok(())
    }

    unsafe fn fill_zero(&self, address: u64, bytes: usize) -> Result<()> {
        // SAFETY: by (1) and (2) of the trait this is live memory that nobody else touches.
        unsafe { ptr::write_bytes(host_pointer(address), 0, bytes) };
        simt::mark_written(address as usize, bytes);
        Ok(())
    }

    fn allocate_pinned(&self, operation: &'static str, bytes: usize) -> Result<NonNull<u8>> {
        let requested = bytes as u64;
        let layout = pinned_layout(bytes);
        let out_of_memory = || Error::OutOfHostMemory {
            operation,
            requested,
        };
        let layout = layout.ok_or_else(out_of_memory)?;
        // SAFETY: the layout's size is not zero.
        NonNull::new(unsafe { alloc::alloc_zeroed(layout) }).ok_or_else(out_of_memory)
    }

    unsafe fn free_pinned(&self, first: NonNull<u8>, bytes: usize) {
        if let Some(layout) = pinned_layout(bytes) {
            // SAFETY: by (1) the allocation is live, is not used again, and has this layout.
            unsafe { alloc::dealloc(first.as_ptr(), layout) };
        }
    }

    fn create_texture(&self, request: &TextureRequest<'_>) -> Result<TextureHandle> {
        let TextureRequest {
            operation,
            width,
            height,
            texels,
            options,
        } = *request;
        self.reserve(operation, texture_bytes(texels.len()))?;
        let texture = simt::Texture::new(width, height.unwrap_or(1), texels, options);
        let address = Box::into_raw(Box::new(texture)).expose_provenance() as u64;
        Ok(TextureHandle {
            object: address,
            storage: address,
        })
    }

    unsafe fn destroy_texture(&self, texture: TextureHandle) {
        let texture = ptr::with_exposed_provenance_mut::<simt::Texture>(texture.storage as usize);
        // SAFETY: by (3) of the trait `create_texture` made it of a box, and it is not used again.
        let texture = unsafe { Box::from_raw(texture) };
        self.release(texture_bytes(texture.texels()));
    }

    unsafe fn write_symbol(&self, symbol: &SymbolRequest, source: &[u8]) -> Result<()> {
        let mut statics = self.statics();
        let memory = statics.entry(symbol.module).or_default();
        memory.write(symbol.initial, source);
        Ok(())
    }

    unsafe fn read_symbol(&self, symbol: &SymbolRequest, destination: &mut [u8]) -> Result<()> {
        let mut statics = self.statics();
        let memory = statics.entry(symbol.module).or_default();
        memory.read(symbol.initial, destination);
        Ok(())
    }

    /// Every launch and copy was done when its call returned.
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn record_event(&self) -> Result<EventHandle> {
        let nanoseconds = self.epoch.elapsed().as_nanos();
        Ok(EventHandle(u64::try_from(nanoseconds).unwrap_or(u64::MAX)))
    }

    unsafe fn event_has_come(&self, _event: EventHandle) -> Result<bool> {
        Ok(true)
    }

    unsafe fn synchronize_event(&self, _event: EventHandle) -> Result<()> {
        Ok(())
    }

    unsafe fn seconds_between(&self, earlier: EventHandle, later: EventHandle) -> Result<f64> {
        Ok(later.0.saturating_sub(earlier.0) as f64 * 1e-9)
    }

    unsafe fn destroy_event(&self, _event: EventHandle) {}

    fn load(&self, source: &'static ModuleSource) -> Result<ModuleHandle> {
        Ok(ModuleHandle(ptr::from_ref(source).addr() as u64))
    }

    fn residency(&self, request: &ResidencyRequest<'_>) -> Result<Residency> {
        Ok(Residency::simulated(
            &self.profile.datasheet().limits,
            self.properties.multiprocessors,
            most_registers(&request.bounds, request.config.block, self.profile),
            request.config,
        ))
    }

    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        // A launch by a kernel is a defect, which must not wait for the launch that it is in.
        let mut statics = (!simt::is_simulated_thread()).then(|| self.statics());
        let memory = statics
            .as_mut()
            .map(|statics| Arc::clone(statics.entry(request.module).or_default()));
        let launch = simt::Launch {
            kernel: request.kernel,
            grid: request.config.grid,
            block: request.config.block,
            dynamic_shared_bytes: request.config.dynamic_shared_bytes as usize,
            options: &simt::Options {
                counters: self.recorder.is_open(),
                statics: memory.unwrap_or_default(),
                ..self.options.clone()
            },
        };
        let run = match request.bounds.cooperative {
            true => simt::run_cooperative,
            false => simt::run,
        };
        let report = run(&launch, request.body).map_err(Error::KernelDefect)?;
        if let Some(counts) = report.counts {
            self.recorder.add(request, *counts);
        }
        Ok(())
    }

    fn raw_stream(&self) -> Option<NonNull<c_void>> {
        None
    }

    fn recorder(&self) -> Option<&LaunchRecorder> {
        Some(&self.recorder)
    }

    fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn with_current(&self, body: &mut dyn FnMut()) -> Result<()> {
        body();
        Ok(())
    }
}

fn pinned_layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes, ALIGNMENT).ok()
}

/// Textures are kept as f32, whatever their elements are.
fn texture_bytes(texels: usize) -> usize {
    texels * size_of::<f32>()
}

/// The host pointer behind an address that `allocate` exposed.
fn host_pointer(address: u64) -> *mut u8 {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// The limits of a Hopper GPU, so that what fits here fits there.
fn properties(options: &SimulatorOptions) -> DeviceProperties {
    let sheet = options.profile.unwrap_or_default().datasheet();
    let limits = sheet.limits;
    DeviceProperties {
        name: match options.profile {
            Some(_) => format!("simulator ({})", sheet.name),
            None => "simulator".to_owned(),
        },
        compute_capability: options.profile.and(sheet.compute_capability),
        driver: None,
        multiprocessors: options.multiprocessors,
        warp_threads: options.warp_width,
        max_block_threads: limits.threads_per_block,
        max_block: Dim3::from((1024, 1024, 64)),
        max_grid: Dim3::from((i32::MAX as u32, 65_535, 65_535)),
        max_multiprocessor_threads: limits.warps * limits.warp_lanes,
        shared_bytes_per_block: 48 << 10,
        max_shared_bytes_per_block: limits.shared_bytes_per_block,
        l2_cache_bytes: sheet.l2_bytes,
        memory_bytes: options.memory_bytes,
    }
}

//! The simulator as a device: its memory is host memory, its kernels run when they are launched.

use crate::backend::{
    Backend, EventHandle, LaunchRequest, ModuleHandle, ResidencyRequest, SymbolRequest,
    TextureHandle, TextureRequest,
};
use crate::error::{Error, Result};
use crate::module_source::ModuleSource;
use crate::properties::DeviceProperties;
use crate::report::{KernelReport, LaunchRecorder, most_registers};
use crate::residency::Residency;
use crate::scratch::{Allocation, Scratch};
use simt::{Contents, Dim3, Profile, StaticMemory};
use std::alloc::{self, Layout};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

mod options;
mod quarantine;

pub use options::SimulatorOptions;
use quarantine::{KEPT_BYTES, Quarantine};

/// What `cudaMalloc` guarantees, which kernels with vector access rely on.
const ALIGNMENT: usize = 256;

/// The byte that fills memory with unspecified contents: every float type reads it as NaN, so a
/// kernel that reads before it writes gives an answer that no test accepts.
const POISON: u8 = 0xFF;

/// One simulated device.
#[derive(Debug)]
pub(crate) struct Simulator {
    options: simt::Options,
    properties: DeviceProperties,
    allocated_bytes: AtomicU64,
    /// Events count nanoseconds from here.
    epoch: Instant,
    scratch: Scratch,
    recorder: LaunchRecorder,
    freed: Mutex<Quarantine>,
    /// The device whose limits this one has.
    profile: Profile,
    /// The static arrays of each module. The lock stands for the device: launches and accesses of
    /// static arrays run one after another, as in a stream.
    statics: Mutex<HashMap<ModuleHandle, Arc<StaticMemory>>>,
    /// The process that has made the device.
    process: u32,
}

impl Drop for Simulator {
    fn drop(&mut self) {
        if let Some(Allocation { address, bytes }) = self.scratch.lock().take() {
            // SAFETY: (1) the device allocated it with this size, and nothing uses it after `drop`.
            unsafe { self.free(address, bytes) };
        }
        self.quarantine().shrink(0);
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
                stack_bytes: options.stack_bytes,
                time_limit: options.time_limit,
                ..simt::Options::default()
            },
            properties: properties(&options),
            allocated_bytes: AtomicU64::new(0),
            epoch: Instant::now(),
            scratch: Scratch::default(),
            statics: Mutex::default(),
            process: std::process::id(),
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

    /// The device, once all work submitted earlier is complete. In a forked child a launch of the
    /// parent's is never done.
    fn statics(
        &self,
        operation: &'static str,
    ) -> Result<MutexGuard<'_, HashMap<ModuleHandle, Arc<StaticMemory>>>> {
        if std::process::id() == self.process {
            return Ok(self.statics.lock().unwrap_or_else(PoisonError::into_inner));
        }
        match self.statics.try_lock() {
            Ok(statics) => Ok(statics),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(Error::BusyAtFork {
                operation,
                device: self.properties.name.clone(),
            }),
        }
    }

    fn quarantine(&self) -> MutexGuard<'_, Quarantine> {
        self.freed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees an allocation that no kernel has seen.
    ///
    /// # Safety
    /// 1. The allocation of `bytes` bytes at `address` is live, with [`ALIGNMENT`], and not used
    ///    again.
    unsafe fn free_at_once(&self, address: u64, bytes: usize) {
        // SAFETY: (1) and (2) of `Quarantine::free` are (1) here.
        unsafe { self.quarantine().free(address, bytes, 0) };
        self.release(bytes);
    }

    fn release(&self, bytes: usize) {
        self.allocated_bytes
            .fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    fn out_of_memory(&self, operation: &'static str, bytes: usize) -> Error {
        Error::OutOfMemory {
            operation,
            device: self.properties.name.clone(),
            requested: bytes as u64,
            free: self.free_bytes(),
            total: self.properties.memory_bytes,
        }
    }

    fn free_bytes(&self) -> u64 {
        let allocated = self.allocated_bytes.load(Ordering::Relaxed);
        self.properties.memory_bytes.saturating_sub(allocated)
    }
}

impl Backend for Simulator {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn is_simulator(&self) -> bool {
        true
    }

    fn free_memory(&self) -> Result<u64> {
        Ok(self.free_bytes())
    }

    fn allocate(&self, operation: &'static str, bytes: usize) -> Result<u64> {
        let address = self.allocate_zeroed(operation, bytes)?;
        // SAFETY: the allocation is `bytes` long, and nothing else refers to it yet.
        unsafe { ptr::write_bytes(host_pointer(address), POISON, bytes) };
        if simt::register_allocation(address as usize, bytes, Contents::Uninitialised).is_err() {
            // SAFETY: (1) it was allocated above with this size, and is not used again.
            unsafe { self.free_at_once(address, bytes) };
            return Err(self.out_of_memory(operation, bytes));
        }
        Ok(address)
    }

    fn allocate_zeroed(&self, operation: &'static str, bytes: usize) -> Result<u64> {
        simt::refuse_host_call(operation);
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
        if simt::register_allocation(address, bytes, Contents::Initialised).is_err() {
            // SAFETY: (1) as above: it has this size, and is not used again.
            unsafe { self.free_at_once(address as u64, bytes) };
            return Err(self.out_of_memory(operation, bytes));
        }
        Ok(address as u64)
    }

    unsafe fn free(&self, address: u64, bytes: usize) {
        let kept = if self.options.checks { KEPT_BYTES } else { 0 };
        // A kernel may drop a buffer, which must not leave the lock behind.
        simt::uninterrupted(|| {
            // SAFETY: (1) and (2) are those of `free`, and `allocate_zeroed` made the layout.
            unsafe { self.quarantine().free(address, bytes, kept) };
        });
        self.release(bytes);
    }

    unsafe fn copy_to_device(&self, destination: u64, source: &[u8]) -> Result<()> {
        simt::refuse_host_call("copy to device");
        // SAFETY: by (1) and (2) of the trait the destination is live memory that no other
        // thread accesses; so it cannot overlap `source`, a borrowed slice.
        unsafe {
            ptr::copy_nonoverlapping(source.as_ptr(), host_pointer(destination), source.len());
        }
        simt::mark_written(destination as usize, source.len());
        Ok(())
    }

    unsafe fn copy_to_host(&self, destination: &mut [u8], source: u64) -> Result<()> {
        simt::refuse_host_call("copy to host");
        // SAFETY: by (1) and (2) of the trait the source is live memory that no thread writes; it
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
        simt::refuse_host_call("copy on device");
        // SAFETY: by (1) and (2) of the trait both are live memory without conflicting use; by
        // the method's requirement they do not overlap.
        unsafe {
            ptr::copy_nonoverlapping(host_pointer(source), host_pointer(destination), bytes);
        }
        simt::mark_copied(destination as usize, source as usize, bytes);
        Ok(())
    }

    unsafe fn fill_zero(&self, address: u64, bytes: usize) -> Result<()> {
        simt::refuse_host_call("fill_zero");
        // SAFETY: by (1) and (2) of the trait this is live memory that no other thread accesses.
        unsafe { ptr::write_bytes(host_pointer(address), 0, bytes) };
        simt::mark_written(address as usize, bytes);
        Ok(())
    }

    fn allocate_pinned(&self, operation: &'static str, bytes: usize) -> Result<NonNull<u8>> {
        simt::refuse_host_call(operation);
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
        simt::refuse_host_call(request.operation);
        let TextureRequest {
            operation,
            width,
            height,
            texels,
            options,
        } = *request;
        let bytes = texture_bytes(texels.len());
        self.reserve(operation, bytes)?;
        let texture = simt::Texture::new(width, height.unwrap_or(1), texels, options);
        let texture = texture.map_err(|_| {
            self.release(bytes);
            self.out_of_memory(operation, bytes)
        })?;
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
        simt::refuse_host_call(symbol.operation);
        let mut statics = self.statics(symbol.operation)?;
        let memory = statics.entry(symbol.module).or_default();
        memory.write(symbol.initial, source);
        Ok(())
    }

    unsafe fn read_symbol(&self, symbol: &SymbolRequest, destination: &mut [u8]) -> Result<()> {
        simt::refuse_host_call(symbol.operation);
        let mut statics = self.statics(symbol.operation)?;
        let memory = statics.entry(symbol.module).or_default();
        memory.read(symbol.initial, destination);
        Ok(())
    }

    /// Every launch and copy was done when its call returned.
    fn synchronize(&self) -> Result<()> {
        simt::refuse_host_call("synchronize");
        Ok(())
    }

    fn record_event(&self) -> Result<EventHandle> {
        simt::refuse_host_call("record_event");
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
        simt::refuse_host_call("load");
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
        // A launch by a kernel must not wait for the launch that it is in.
        simt::refuse_host_call("launch");
        let mut statics = self.statics("launch")?;
        let memory = Arc::clone(statics.entry(request.entry.module).or_default());
        let launch = simt::Launch {
            kernel: request.entry.kernel,
            grid: request.config.grid,
            block: request.config.block,
            dynamic_shared_bytes: request.config.dynamic_shared_bytes as usize,
            options: &simt::Options {
                counters: self.recorder.is_open(),
                statics: memory,
                ..self.options.clone()
            },
        };
        let run = match request.bounds.cooperative {
            true => simt::run_cooperative,
            false => simt::run,
        };
        let report = run(&launch, request.body).map_err(Error::KernelDefect)?;
        if let Some(counts) = report.counts {
            self.recorder.add(KernelReport::of_launch(
                request.entry.kernel,
                request.config,
                &request.bounds,
                *counts,
                self.profile,
            ));
        }
        Ok(())
    }

    fn raw_stream(&self) -> Option<NonNull<c_void>> {
        None
    }

    fn recorder(&self) -> Option<&LaunchRecorder> {
        simt::refuse_host_call("a report of launches");
        Some(&self.recorder)
    }

    /// The holder of the scratch memory waits for launches, perhaps for that of the calling kernel.
    fn scratch(&self) -> &Scratch {
        simt::refuse_host_call("a sum");
        &self.scratch
    }

    fn with_current(&self, body: &mut dyn FnMut()) -> Result<()> {
        simt::refuse_host_call("with_current");
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

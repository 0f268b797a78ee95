//! One CUDA device as a backend.

use super::context::{Context, Current, Stream};
use super::driver::{Failure, call};
use super::memory::{self, Allocator};
use super::modules::{self, Function, FunctionError, LoadError, Modules};
use super::occupancy;
use super::properties;
use super::start::{OLDEST_DRIVER, cuda_error, find_device, start_driver};
use super::textures;
use crate::backend::{
    Backend, Entry, EventHandle, LaunchRequest, ModuleHandle, ResidencyRequest, SymbolRequest,
    TextureHandle, TextureRequest,
};
use crate::error::{CudaVersion, Error, Result};
use crate::launch::LaunchConfig;
use crate::module_source::ModuleSource;
use crate::properties::DeviceProperties;
use crate::residency::Residency;
use crate::scratch::{Allocation, Scratch};
use cudarc::driver::sys;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

/// One CUDA device: a context, and one stream for all of its work.
#[derive(Debug)]
pub struct CudaDevice {
    properties: DeviceProperties,
    pub(super) context: Context,
    pub(super) stream: Stream,
    pub(super) allocator: Allocator,
    modules: Modules,
    /// The first failure that lost the device: an operation and the driver's words.
    lost: OnceLock<String>,
    scratch: Scratch,
}

impl CudaDevice {
    pub fn open(ordinal: u32) -> Result<Self> {
        let driver = start_driver(ordinal)?;
        let device = find_device(ordinal)?;
        Context::retain_primary(device)
            .and_then(|context| {
                Self::in_context(context, device, driver, |current| {
                    Allocator::new(device, current)
                })
            })
            .map_err(|failure| cuda_error("open", failure))
    }

    /// A device in `context`, which is of `device`, with the memory of `allocator`.
    pub(super) fn in_context(
        context: Context,
        device: sys::CUdevice,
        driver: CudaVersion,
        allocator: impl FnOnce(&Current<'_>) -> Result<Allocator, Failure>,
    ) -> Result<Self, Failure> {
        let properties = properties::read(device, driver)?;
        let current = context.enter()?;
        let stream = Stream::new(&current)?;
        let allocator = allocator(&current)?;
        drop(current);
        Ok(Self {
            properties,
            context,
            stream,
            allocator,
            modules: Modules::default(),
            lost: OnceLock::new(),
            scratch: Scratch::default(),
        })
    }

    /// Runs `body` in the device's context, unless the device was lost before.
    pub(super) fn run<R>(
        &self,
        operation: &'static str,
        body: impl FnOnce(&Current<'_>) -> Result<R, Failure>,
    ) -> Result<R> {
        let current = self.enter(operation)?;
        body(&current).map_err(|failure| self.error(operation, failure))
    }

    fn enter(&self, operation: &'static str) -> Result<Current<'_>> {
        if self.lost.get().is_some() {
            return Err(self.lost_error(operation));
        }
        self.context
            .enter()
            .map_err(|failure| self.error(operation, failure))
    }

    /// The error for a failure. One that loses the device is remembered.
    fn error(&self, operation: &'static str, failure: Failure) -> Error {
        if !failure.loses_device() {
            return cuda_error(operation, failure);
        }
        self.lost.get_or_init(|| {
            let code = failure.code;
            format!("CUDA error {code} was seen in `{operation}`: {failure}")
        });
        self.lost_error(operation)
    }

    fn lost_error(&self, operation: &'static str) -> Error {
        Error::DeviceLost {
            operation,
            device: self.properties.name.clone(),
            cause: self.lost.get().cloned().unwrap_or_default(),
        }
    }

    fn allocation_error(
        &self,
        operation: &'static str,
        bytes: usize,
        failure: Failure,
        current: &Current<'_>,
    ) -> Error {
        if failure != Failure::OUT_OF_MEMORY {
            return self.error(operation, failure);
        }
        Error::OutOfMemory {
            operation,
            device: self.properties.name.clone(),
            requested: bytes as u64,
            free: self.allocator.free_bytes(current).unwrap_or(0),
            total: self.properties.memory_bytes,
        }
    }

    fn launch_error(&self, kernel: &'static str, failure: Failure) -> Error {
        if failure.loses_device() {
            return self.error("launch", failure);
        }
        Error::Launch {
            kernel,
            code: failure.code,
            message: failure.to_string(),
        }
    }

    /// The device address of a static array, whose size is that which the host knows.
    fn symbol_address(&self, symbol: &SymbolRequest, current: &Current<'_>) -> Result<u64> {
        let found = self.modules.global(symbol.module, symbol.name, current);
        // The device library aligns static arrays to 16 bytes, and so rounds their sizes.
        let bytes = symbol.initial.len();
        let reason = match found {
            Ok((address, found)) if found == bytes.next_multiple_of(16) => return Ok(address),
            Ok((_, found)) => format!("it has {found} bytes there; build its images anew"),
            Err(modules::NOT_FOUND) => {
                "its image has none of this name; is the array declared in the crate that the \
                 module was built from?"
                    .to_owned()
            }
            Err(failure) => return Err(self.error(symbol.operation, failure)),
        };
        Err(Error::NoSymbol {
            operation: symbol.operation,
            module: symbol.module_name,
            symbol: symbol.name,
            bytes,
            reason,
        })
    }

    /// The kernel of this name, ready for launches of blocks as in `config`.
    fn prepared_function(
        &self,
        entry: &Entry,
        config: &LaunchConfig,
        current: &Current<'_>,
    ) -> Result<Function> {
        let Entry { module, kernel, .. } = *entry;
        let bytes = config.dynamic_shared_bytes;
        let fail = |failure| self.launch_error(kernel, failure);
        let found = self.modules.function(entry, current);
        let function = found.map_err(|error| match error {
            FunctionError::Driver(failure) => fail(failure),
            FunctionError::OtherKernel(found) => Error::OtherKernel {
                kernel,
                module: entry.module_name,
                expected: entry
                    .signature
                    .map_or_else(String::new, |it| it.to_string()),
                found,
            },
        })?;
        self.check_function(config, &function)
            .map_err(|reason| Error::LaunchConfig { kernel, reason })?;
        self.modules
            .allow_dynamic_shared(module, kernel, bytes, current)
            .map_err(fail)?;
        Ok(function)
    }

    /// Checks what only the compiled kernel knows: its registers and its static shared memory.
    fn check_function(&self, config: &LaunchConfig, function: &Function) -> Result<(), String> {
        let block = config.block;
        // The block was checked against the device's limits, so the product is small.
        let threads = block.x * block.y * block.z;
        if threads > function.max_threads {
            return Err(format!(
                "its block has {threads} threads; the compiled kernel allows {}",
                function.max_threads
            ));
        }
        let dynamic = config.dynamic_shared_bytes;
        let limit = self.properties.max_shared_bytes_per_block;
        if u64::from(dynamic) + u64::from(function.static_shared_bytes) > u64::from(limit) {
            return Err(format!(
                "it asks for {dynamic} bytes of dynamic shared memory beside its {} static ones; \
                 the device has {limit} for a block",
                function.static_shared_bytes
            ));
        }
        Ok(())
    }
}

impl Backend for CudaDevice {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn is_simulator(&self) -> bool {
        false
    }

    fn free_memory(&self) -> Result<u64> {
        self.run("free_memory", |current| self.allocator.free_bytes(current))
    }

    fn allocate(&self, operation: &'static str, bytes: usize) -> Result<u64> {
        let current = self.enter(operation)?;
        self.allocator
            .allocate(bytes, &self.stream, &current)
            .map_err(|failure| self.allocation_error(operation, bytes, failure, &current))
    }

    fn allocate_zeroed(&self, operation: &'static str, bytes: usize) -> Result<u64> {
        let address = self.allocate(operation, bytes)?;
        // SAFETY: (1) the range is that of the new allocation. (2) Nothing else refers to it yet.
        if let Err(error) = unsafe { self.fill_zero(address, bytes) } {
            // SAFETY: (1) the allocation is new, and its address is not returned.
            unsafe { self.free(address, bytes) };
            return Err(error);
        }
        Ok(address)
    }

    unsafe fn free(&self, address: u64, _bytes: usize) {
        // A lost device has lost its memory. Other failures are those of earlier work, which the
        // next call reports.
        let _ = self.run("free", |current| {
            // SAFETY: (1) is (1) of this method.
            unsafe { self.allocator.free(address, &self.stream, current) }
        });
    }

    unsafe fn copy_to_device(&self, destination: u64, source: &[u8]) -> Result<()> {
        let (pointer, bytes) = (source.as_ptr().cast(), source.len());
        self.run("copy to the device", |current| {
            let stream = self.stream.raw();
            // SAFETY: `source` has the bytes, and stays borrowed until the stream is done with
            // them; the destination has them by (1) of the trait, without conflicts by (2).
            unsafe { call!(cuMemcpyHtoDAsync_v2(destination, pointer, bytes, stream)) }?;
            self.stream.synchronize(current)
        })
    }

    unsafe fn copy_to_host(&self, destination: &mut [u8], source: u64) -> Result<()> {
        let (pointer, bytes) = (destination.as_mut_ptr().cast(), destination.len());
        self.run("copy from the device", |current| {
            let stream = self.stream.raw();
            // SAFETY: `destination` has the room, and stays borrowed until the stream is done
            // with it; the source has the bytes by (1) of the trait, without conflicts by (2).
            unsafe { call!(cuMemcpyDtoHAsync_v2(pointer, source, bytes, stream)) }?;
            self.stream.synchronize(current)
        })
    }

    unsafe fn copy_on_device(&self, destination: u64, source: u64, bytes: usize) -> Result<()> {
        self.run("copy on the device", |_current| {
            let stream = self.stream.raw();
            // SAFETY: both ranges have the bytes by (1) of the trait, without conflicts by (2).
            unsafe { call!(cuMemcpyDtoDAsync_v2(destination, source, bytes, stream)) }
        })
    }

    unsafe fn fill_zero(&self, address: u64, bytes: usize) -> Result<()> {
        self.run("fill with zero", |_current| {
            // SAFETY: the range has the bytes by (1) of the trait, without conflicts by (2).
            unsafe { call!(cuMemsetD8Async(address, 0, bytes, self.stream.raw())) }
        })
    }

    fn allocate_pinned(&self, operation: &'static str, bytes: usize) -> Result<NonNull<u8>> {
        let current = self.enter(operation)?;
        memory::allocate_pinned(bytes, &current).map_err(|failure| match failure {
            Failure::OUT_OF_MEMORY => Error::OutOfHostMemory {
                operation,
                requested: bytes as u64,
            },
            failure => self.error(operation, failure),
        })
    }

    unsafe fn free_pinned(&self, first: NonNull<u8>, _bytes: usize) {
        // Memory of a lost device is the process's until it ends.
        let _ = self.run("free pinned memory", |current| {
            // SAFETY: (1) is (1) of this method; every copy was complete when its call returned.
            unsafe { memory::free_pinned(first, current) }
        });
    }

    fn create_texture(&self, request: &TextureRequest<'_>) -> Result<TextureHandle> {
        let current = self.enter(request.operation)?;
        textures::create(request, &self.stream, &current).map_err(|failure| {
            let bytes = request.texels.bytes();
            self.allocation_error(request.operation, bytes, failure, &current)
        })
    }

    unsafe fn destroy_texture(&self, texture: TextureHandle) {
        let _ = self.run("destroy a texture", |current| {
            self.stream.synchronize(current)?;
            // SAFETY: (1) by (3) of the trait it is not used again, and the stream's work is done.
            unsafe { textures::destroy(texture, current) }
        });
    }

    unsafe fn write_symbol(&self, symbol: &SymbolRequest, source: &[u8]) -> Result<()> {
        let address = self.symbol_address(symbol, &self.enter(symbol.operation)?)?;
        // SAFETY: (1) the array has as many bytes. (2) Work of other threads comes before or
        // after in the stream.
        unsafe { self.copy_to_device(address, source) }
    }

    unsafe fn read_symbol(&self, symbol: &SymbolRequest, destination: &mut [u8]) -> Result<()> {
        let address = self.symbol_address(symbol, &self.enter(symbol.operation)?)?;
        // SAFETY: (1), (2) as in `write_symbol`.
        unsafe { self.copy_to_host(destination, address) }
    }

    fn synchronize(&self) -> Result<()> {
        self.run("synchronize", |current| self.stream.synchronize(current))
    }

    fn record_event(&self) -> Result<EventHandle> {
        self.run("record_event", |_current| {
            let mut event = ptr::null_mut();
            // SAFETY: `event` is a place for one handle; flags 0 ask for an event with a time.
            unsafe { call!(cuEventCreate(&raw mut event, 0)) }?;
            // SAFETY: event and stream are alive, and of one context.
            unsafe { call!(cuEventRecord(event, self.stream.raw())) }?;
            Ok(event_handle(event))
        })
    }

    unsafe fn event_has_come(&self, event: EventHandle) -> Result<bool> {
        self.run("ask for an event", |_current| {
            // SAFETY: by (3) of the trait the event is alive.
            match unsafe { call!(cuEventQuery(raw_event(event))) } {
                Err(Failure::NOT_READY) => Ok(false),
                has_come => has_come.map(|()| true),
            }
        })
    }

    unsafe fn synchronize_event(&self, event: EventHandle) -> Result<()> {
        self.run("synchronize an event", |_current| {
            // SAFETY: by (3) of the trait the event is alive.
            unsafe { call!(cuEventSynchronize(raw_event(event))) }
        })
    }

    unsafe fn seconds_between(&self, earlier: EventHandle, later: EventHandle) -> Result<f64> {
        self.run("elapsed_since", |_current| {
            let (earlier, later) = (raw_event(earlier), raw_event(later));
            let mut milliseconds = 0.0_f32;
            let place = &raw mut milliseconds;
            // SAFETY: `place` is for one number; by (3) of the trait both events are alive.
            unsafe { call!(cuEventElapsedTime(place, earlier, later)) }?;
            Ok(f64::from(milliseconds) * 1e-3)
        })
    }

    unsafe fn destroy_event(&self, event: EventHandle) {
        let _ = self.run("destroy an event", |_current| {
            // SAFETY: by (3) of the trait the event is alive, and this is its last use.
            unsafe { call!(cuEventDestroy_v2(raw_event(event))) }
        });
    }

    fn load(&self, source: &'static ModuleSource) -> Result<ModuleHandle> {
        let current = self.enter("load")?;
        let (major, minor) = self.properties.compute_capability.unwrap_or_default();
        let loaded = self.modules.load(source, (major, minor), &current);
        loaded.map_err(|error| match error {
            LoadError::Driver(failure) => self.error("load", failure),
            LoadError::NoImage(images) => Error::NoModule {
                module: source.name(),
                device: self.properties.name.clone(),
                compute_capability: format!("{major}.{minor}"),
                driver: self.properties.driver.unwrap_or(OLDEST_DRIVER),
                images,
            },
        })
    }

    fn residency(&self, request: &ResidencyRequest<'_>) -> Result<Residency> {
        let current = self.enter("max_resident_blocks")?;
        let function = self.prepared_function(&request.entry, request.config, &current)?;
        occupancy::residency(&function, request.config, &self.properties, &current)
            .map_err(|failure| self.error("max_resident_blocks", failure))
    }

    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        let current = self.enter("launch")?;
        let function = self.prepared_function(&request.entry, &request.config, &current)?;
        let (grid, block) = (request.config.grid, request.config.block);
        // The driver reads each parameter at its address during the call, and writes none.
        let parameters = request.params.addresses().as_ptr();
        let parameters: *mut *mut c_void = parameters.cast_mut().cast();
        let (bytes, stream) = (request.config.dynamic_shared_bytes, self.stream.raw());
        // SAFETY: by (1) of `launch` the function takes these parameters, which live through the
        // call; by (3) and (4) it may run with them; the stream is alive.
        let launched = unsafe {
            if request.bounds.cooperative {
                call!(cuLaunchCooperativeKernel(
                    function.raw,
                    grid.x,
                    grid.y,
                    grid.z,
                    block.x,
                    block.y,
                    block.z,
                    bytes,
                    stream,
                    parameters,
                ))
            } else {
                call!(cuLaunchKernel(
                    function.raw,
                    grid.x,
                    grid.y,
                    grid.z,
                    block.x,
                    block.y,
                    block.z,
                    bytes,
                    stream,
                    parameters,
                    ptr::null_mut(),
                ))
            }
        };
        launched.map_err(|failure| self.launch_error(request.entry.kernel, failure))
    }

    fn raw_stream(&self) -> Option<NonNull<c_void>> {
        NonNull::new(self.stream.raw().cast())
    }

    #[cfg(feature = "cust")]
    fn exchange(&self) -> Option<&dyn crate::backend::Exchange> {
        self.allocator.is_the_drivers().then_some(self)
    }

    fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    fn with_current(&self, body: &mut dyn FnMut()) -> Result<()> {
        let _current = self.enter("with_current")?;
        body();
        Ok(())
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        if let Some(Allocation { address, bytes }) = self.scratch.lock().take() {
            // SAFETY: (1) the device allocated it with this size, and nothing uses it after `drop`.
            unsafe { self.free(address, bytes) };
        }
        let Ok(current) = self.context.enter() else {
            return;
        };
        let _ = self.stream.synchronize(&current);
        // SAFETY: (1) the device is dropped, so its buffers, events and modules are gone; its
        // work is done, or lost with the device.
        unsafe {
            self.modules.unload(&current);
            self.allocator.destroy(&current);
            self.stream.destroy(&current);
        }
    }
}

fn event_handle(event: sys::CUevent) -> EventHandle {
    EventHandle(event.expose_provenance() as u64)
}

fn raw_event(event: EventHandle) -> sys::CUevent {
    ptr::with_exposed_provenance_mut(event.0 as usize)
}

//! Modules of a CUDA device, their static arrays, and launches.

use super::{CudaDevice, launch};
use crate::backend::{
    Backend as _, DeviceKernels, DeviceMemory as _, Entry, LaunchRequest, ResidencyRequest,
    SymbolRequest,
};
use crate::cuda::compile::LoadError;
use crate::cuda::context::Current;
use crate::cuda::driver::Failure;
use crate::cuda::function::Function;
use crate::cuda::modules::{FunctionError, Loaded};
use crate::cuda::occupancy;
use crate::cuda::output::AnnouncedStream;
use crate::cuda::start::OLDEST_DRIVER;
use crate::cuda::static_order::Statics;
use crate::cuda::statics::find_global;
use crate::error::{ErrorKind, Outcome};
use crate::launch::LaunchConfig;
use crate::module_source::ModuleSource;
use crate::residency::Residency;
use std::sync::atomic::Ordering;

impl CudaDevice {
    fn launch_error(&self, kernel: &'static str, failure: Failure) -> ErrorKind {
        if failure.loses_device() {
            return self.gpu.error(failure);
        }
        ErrorKind::Launch {
            kernel,
            code: failure.code,
            message: failure.to_string(),
        }
    }

    fn load_error(&self, source: &ModuleSource, error: LoadError) -> ErrorKind {
        let (major, minor) = self.compute_capability();
        match error {
            LoadError::Driver(failure) => self.gpu.error(failure),
            LoadError::NoImage(images) => ErrorKind::NoModule {
                module: source.name(),
                device: self.label(),
                compute_capability: format!("{major}.{minor}"),
                driver: self.gpu.properties.driver.unwrap_or(OLDEST_DRIVER),
                images,
            },
        }
    }

    fn function_error(&self, entry: &Entry, error: FunctionError) -> ErrorKind {
        match error {
            FunctionError::NotLoaded(error) => self.load_error(entry.module, error),
            FunctionError::Driver(failure) => self.launch_error(entry.kernel, failure),
            FunctionError::OtherKernel(found) => ErrorKind::OtherKernel {
                kernel: entry.kernel,
                module: entry.module.name(),
                expected: entry
                    .signature
                    .map_or_else(String::new, |it| it.to_string()),
                found,
            },
        }
    }

    fn compute_capability(&self) -> (u32, u32) {
        self.gpu.properties.compute_capability.unwrap_or_default()
    }

    /// The device address of a static array, which must have the size that the host knows.
    fn symbol_address(
        &self,
        modules: &mut Loaded,
        symbol: &SymbolRequest,
        current: &Current<'_>,
    ) -> Outcome<u64> {
        let module = modules
            .module(symbol.module, self.compute_capability(), current)
            .map_err(|error| self.load_error(symbol.module, error))?;
        // The device library aligns static arrays to 16 bytes, and so rounds their sizes.
        let bytes = symbol.initial.len();
        let reason = match find_global(module, symbol.name, current) {
            Ok((address, found)) if found == bytes.next_multiple_of(16) => return Ok(address),
            Ok((_, found)) => format!("its image has one of {found} bytes; rebuild the images"),
            Err(Failure::NOT_FOUND) => {
                "its image has none of this name; declare the array in the crate that the module is \
                 built from"
                    .to_owned()
            }
            Err(failure) => return Err(self.gpu.error(failure)),
        };
        Err(ErrorKind::NoSymbol {
            module: symbol.module.name(),
            symbol: symbol.name,
            bytes,
            reason,
        })
    }

    /// The kernel of this name, prepared for launches with the blocks of `config`.
    fn prepared_function(
        &self,
        modules: &mut Loaded,
        entry: &Entry,
        config: &LaunchConfig,
        current: &Current<'_>,
    ) -> Outcome<Function> {
        let kernel = entry.kernel;
        let function = modules
            .function(entry, self.compute_capability(), current)
            .map_err(|error| self.function_error(entry, error))?;
        self.check_function(config, function)
            .map_err(|reason| ErrorKind::LaunchConfig { kernel, reason })?;
        function
            .allow_dynamic_shared(config.dynamic_shared_bytes, current)
            .map_err(|failure| self.launch_error(kernel, failure))?;
        self.gpu.modules.known.add(entry, *function);
        Ok(*function)
    }

    /// Starts the copy of a static array at its address, in the order of the array's uses, and waits for it.
    fn copy_symbol(
        &self,
        symbol: &SymbolRequest,
        order: impl FnOnce(&Statics) -> Outcome<()>,
        start: impl FnOnce(u64) -> Outcome<()>,
    ) -> Outcome<()> {
        let current = self.gpu.enter()?;
        let mut modules = self.gpu.modules.lock();
        let address = self.symbol_address(&mut modules, symbol, &current)?;
        modules.statics(symbol.module).map_or(Ok(()), order)?;
        let started = start(address);
        // Unlocked: waiting prints what kernels have printed.
        drop(modules);
        self.synchronize().and(started)
    }

    /// Checks the limits that only the compiled kernel knows: its registers and its static shared memory.
    fn check_function(&self, config: &LaunchConfig, function: &Function) -> Result<(), String> {
        let block = config.block;
        // The block was checked against the device's limits, so the product is small.
        let threads = block.x * block.y * block.z;
        if threads > function.max_threads {
            return Err(format!(
                "its block has {threads} threads; the compiled kernel allows at most {}",
                function.max_threads
            ));
        }
        let dynamic = config.dynamic_shared_bytes;
        let limit = self.gpu.properties.max_shared_bytes_per_block;
        if u64::from(dynamic) + u64::from(function.static_shared_bytes) > u64::from(limit) {
            return Err(format!(
                "it asks for {dynamic} bytes of dynamic shared memory beside its {} static ones, and a block \
                 of this device has at most {limit}",
                function.static_shared_bytes
            ));
        }
        Ok(())
    }
}

impl DeviceKernels for CudaDevice {
    fn load(&self, source: &'static ModuleSource) -> Outcome<()> {
        let current = self.gpu.enter()?;
        let capability = self.compute_capability();
        let loaded = self.gpu.modules.lock().module(source, capability, &current);
        loaded
            .map(drop)
            .map_err(|error| self.load_error(source, error))
    }

    fn warnings(&self, source: &'static ModuleSource) -> Outcome<Vec<String>> {
        let current = self.gpu.enter()?;
        let capability = self.compute_capability();
        let warnings = self
            .gpu
            .modules
            .lock()
            .warnings(source, capability, &current);
        warnings.map_err(|error| self.load_error(source, error))
    }

    fn write_symbol(&self, symbol: &SymbolRequest, source: &[u8]) -> Outcome<()> {
        let order = |statics: &Statics| statics.order_writes(self);
        // SAFETY: live memory: the array has that many bytes. No conflicting work: this stream waits for it, and no
        // other thread submits any while the modules are locked. The source stays until `copy_symbol` returns.
        let copy = |address| unsafe { self.start_copy_to_device(address, source) };
        self.copy_symbol(symbol, order, copy)
    }

    fn read_symbol(&self, symbol: &SymbolRequest, destination: &mut [u8]) -> Outcome<()> {
        let order = |statics: &Statics| statics.order_reads(self);
        // SAFETY: live memory and no conflicting work, as in `write_symbol`. The destination stays until `copy_symbol`
        // returns.
        let copy = |address| unsafe { self.start_copy_to_host(destination, address) };
        self.copy_symbol(symbol, order, copy)
    }

    fn residency(&self, request: &ResidencyRequest<'_>) -> Outcome<Residency> {
        let current = self.gpu.enter()?;
        let (entry, config) = (&request.entry, request.config);
        let mut modules = self.gpu.modules.lock();
        let function = self.prepared_function(&mut modules, entry, config, &current)?;
        drop(modules);
        occupancy::residency(&function, config, &self.gpu.properties, &current)
            .map_err(|failure| self.gpu.error(failure))
    }

    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Outcome<()> {
        let current = self.gpu.enter()?;
        let Entry { module, kernel, .. } = request.entry;
        let (entry, config) = (&request.entry, &request.config);
        let is_cooperative = request.bounds.cooperative;
        let shares_memory = |function: &Function| function.has_statics || is_cooperative;
        let known = &self.gpu.modules.known;
        let known = known.get(entry, config.dynamic_shared_bytes).copied();
        let is_capturing = self.is_capturing.load(Ordering::Relaxed);
        let (function, locked) = match known.filter(|it| !is_capturing && !shares_memory(it)) {
            Some(function) => {
                self.check_function(config, &function)
                    .map_err(|reason| ErrorKind::LaunchConfig { kernel, reason })?;
                (function, None)
            }
            None => {
                let mut modules = self.gpu.modules.lock();
                let function = self.prepared_function(&mut modules, entry, config, &current)?;
                if is_capturing
                    && (shares_memory(&function) || self.gpu.modules.outputs.has(module.id()))
                {
                    return Err(ErrorKind::NotRecorded {
                        call: format!("a launch of `{kernel}`"),
                        reason: "its module has static arrays or prints, which launches in all streams share",
                    });
                }
                // Until the kernel is launched, no other thread launches one that shares memory of the module with it.
                let locked = shares_memory(&function).then_some(modules);
                if let Some(statics) = locked.as_ref().and_then(|it| it.statics(module)) {
                    statics.order_launches(self, is_cooperative)?;
                }
                (function, locked)
            }
        };
        // Nor does one announce another kernel if the module's kernels print. What failed becomes an error when this is
        // unlocked, because errors print.
        let stream = AnnouncedStream {
            number: self.number,
            stream: &self.stream,
            streams: &self.gpu.streams,
        };
        let outputs = &self.gpu.modules.outputs;
        let announced = outputs.announce(module.id(), kernel, &stream, &current);
        let launched = announced.and_then(|_announced| {
            // SAFETY: the function takes these parameters, and it may run with them: the caller's contract for
            // parameters, memory and the kernel's requirements. The stream is alive.
            unsafe { launch::launch(function.raw, request, self.stream.raw()) }
        });
        drop(locked);
        launched.map_err(|failure| self.launch_error(kernel, failure))
    }
}

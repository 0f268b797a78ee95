//! Modules of a CUDA device, their static arrays, and launches.

use super::{CudaDevice, launch};
use crate::backend::{
    Backend as _, DeviceKernels, DeviceMemory as _, Entry, LaunchRequest, ResidencyRequest,
    SymbolRequest,
};
use crate::cuda::compile::LoadError;
use crate::cuda::context::Current;
use crate::cuda::driver::Failure;
use crate::cuda::modules::{Function, FunctionError};
use crate::cuda::occupancy;
use crate::cuda::start::OLDEST_DRIVER;
use crate::cuda::statics::find_global;
use crate::error::{ErrorKind, Outcome};
use crate::launch::LaunchConfig;
use crate::module_source::ModuleSource;
use crate::residency::Residency;

impl CudaDevice {
    fn launch_error(&self, kernel: &'static str, failure: Failure) -> ErrorKind {
        if failure.loses_device() {
            return self.error(failure);
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
            LoadError::Driver(failure) => self.error(failure),
            LoadError::NoImage(images) => ErrorKind::NoModule {
                module: source.name(),
                device: self.label(),
                compute_capability: format!("{major}.{minor}"),
                driver: self.properties.driver.unwrap_or(OLDEST_DRIVER),
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
        self.properties.compute_capability.unwrap_or_default()
    }

    /// The device address of a static array, which must have the size that the host knows.
    fn symbol_address(&self, symbol: &SymbolRequest, current: &Current<'_>) -> Outcome<u64> {
        let module = self
            .modules
            .lock()
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
            Err(failure) => return Err(self.error(failure)),
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
        entry: &Entry,
        config: &LaunchConfig,
        current: &Current<'_>,
    ) -> Outcome<Function> {
        let kernel = entry.kernel;
        let mut modules = self.modules.lock();
        let function = modules
            .function(entry, self.compute_capability(), current)
            .map_err(|error| self.function_error(entry, error))?;
        self.check_function(config, function)
            .map_err(|reason| ErrorKind::LaunchConfig { kernel, reason })?;
        function
            .allow_dynamic_shared(config.dynamic_shared_bytes, current)
            .map_err(|failure| self.launch_error(kernel, failure))?;
        Ok(*function)
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
        let limit = self.properties.max_shared_bytes_per_block;
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
        let current = self.enter()?;
        let capability = self.compute_capability();
        let loaded = self.modules.lock().module(source, capability, &current);
        loaded
            .map(drop)
            .map_err(|error| self.load_error(source, error))
    }

    fn warnings(&self, source: &'static ModuleSource) -> Outcome<Vec<String>> {
        let current = self.enter()?;
        let capability = self.compute_capability();
        let warnings = self.modules.lock().warnings(source, capability, &current);
        warnings.map_err(|error| self.load_error(source, error))
    }

    fn write_symbol(&self, symbol: &SymbolRequest, source: &[u8]) -> Outcome<()> {
        let address = self.symbol_address(symbol, &self.enter()?)?;
        // SAFETY: live memory: the array has that many bytes. No conflicting work: work of other threads comes before
        // or after in the stream.
        unsafe { self.copy_to_device(address, source) }
    }

    fn read_symbol(&self, symbol: &SymbolRequest, destination: &mut [u8]) -> Outcome<()> {
        let address = self.symbol_address(symbol, &self.enter()?)?;
        // SAFETY: live memory and no conflicting work, as in `write_symbol`.
        unsafe { self.copy_to_host(destination, address) }
    }

    fn residency(&self, request: &ResidencyRequest<'_>) -> Outcome<Residency> {
        let current = self.enter()?;
        let function = self.prepared_function(&request.entry, request.config, &current)?;
        occupancy::residency(&function, request.config, &self.properties, &current)
            .map_err(|failure| self.error(failure))
    }

    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Outcome<()> {
        let current = self.enter()?;
        let function = self.prepared_function(&request.entry, &request.config, &current)?;
        let Entry { module, kernel, .. } = request.entry;
        let announced = self
            .modules
            .outputs
            .announce(module.id(), kernel, &self.stream, &current);
        // Until the kernel is launched, no other thread announces another one.
        let announced = announced.map_err(|failure| self.launch_error(kernel, failure))?;
        // SAFETY: the function takes these parameters, and it may run with them: the caller's contract for
        // parameters, memory and the kernel's requirements. The stream is alive.
        let launched = unsafe { launch::launch(function.raw, request, self.stream.raw()) };
        drop(announced);
        launched.map_err(|failure| self.launch_error(kernel, failure))
    }
}

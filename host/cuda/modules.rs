//! Compiled modules and their functions, kept for the life of the device.

use super::context::Current;
use super::driver::{Failure, call};
use super::images;
use crate::backend::{Entry, ModuleHandle};
use crate::error::ImageRejection;
use crate::module_source::ModuleSource;
use cuda_std::kernel::Architecture;
use cuda_std::signature::{self, Signature};
use cudarc::driver::sys;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All modules that a device has loaded.
#[derive(Debug, Default)]
pub struct Modules {
    loaded: Mutex<Loaded>,
}

#[derive(Debug, Default)]
struct Loaded {
    /// Handles by the address of the module's source, which is a `static`.
    handles: HashMap<usize, ModuleHandle>,
    /// A module's handle is its index here.
    modules: Vec<RawModule>,
    /// Functions with the signatures that were compared when they were looked up.
    functions: HashMap<(ModuleHandle, &'static str), (Function, Option<Signature>)>,
}

#[derive(Clone, Copy, Debug)]
struct RawModule(sys::CUmodule);

// SAFETY: the driver's functions may be called with one module from any thread.
unsafe impl Send for RawModule {}

/// A kernel in a compiled module, with what its compiled code allows.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub raw: sys::CUfunction,
    /// Most threads in a block, by the registers that the code needs.
    pub max_threads: u32,
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes of shared memory that every block has in any case.
    pub static_shared_bytes: u32,
    /// Bytes of dynamic shared memory that launches may use by now.
    dynamic_shared_bytes: u32,
}

// SAFETY: the driver's functions may be called with one function from any thread.
unsafe impl Send for Function {}

/// Why there is no function for an entry.
#[derive(Debug)]
pub enum FunctionError {
    /// The module's entry of the name is another kernel, whose signature this is if it has one.
    OtherKernel(Option<String>),
    /// The driver failed.
    Driver(Failure),
}

impl From<Failure> for FunctionError {
    fn from(failure: Failure) -> Self {
        Self::Driver(failure)
    }
}

/// Why a module was not loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The device runs none of the images, each for its own reason.
    NoImage(Vec<ImageRejection>),
    /// The driver failed in a way that has nothing to do with the images.
    Driver(Failure),
}

impl Modules {
    /// The module of `source`: compiled now, from its best image for the device, or before.
    pub fn load(
        &self,
        source: &'static ModuleSource,
        compute_capability: (u32, u32),
        current: &Current<'_>,
    ) -> Result<ModuleHandle, LoadError> {
        let mut loaded = self.lock();
        let identity = ptr::from_ref(source).addr();
        if let Some(handle) = loaded.handles.get(&identity) {
            return Ok(*handle);
        }
        let module = load_best(source, compute_capability, current)?;
        let handle = ModuleHandle(loaded.modules.len() as u64);
        loaded.modules.push(module);
        loaded.handles.insert(identity, handle);
        Ok(handle)
    }

    /// The kernel of a loaded module, whose signature is compared when it is first looked up.
    pub fn function(
        &self,
        entry: &Entry,
        current: &Current<'_>,
    ) -> Result<Function, FunctionError> {
        let mut loaded = self.lock();
        let key = (entry.module, entry.kernel);
        if let Some((function, signature)) = loaded.functions.get(&key)
            && *signature == entry.signature
        {
            return Ok(*function);
        }
        let module = loaded.modules[entry.module.0 as usize];
        let function = find_function(module, entry.kernel, current)?;
        if let Some(signature) = &entry.signature {
            check_signature(module, entry.kernel, signature, current)?;
        }
        loaded.functions.insert(key, (function, entry.signature));
        Ok(function)
    }

    /// The address and the bytes of the static array `name` of a loaded module.
    pub fn global(
        &self,
        module: ModuleHandle,
        name: &str,
        current: &Current<'_>,
    ) -> Result<(u64, usize), Failure> {
        find_global(self.lock().modules[module.0 as usize], name, current)
    }

    /// Lets launches of the kernel `name` use `bytes` of dynamic shared memory. Up to 48 KiB,
    /// less the static ones, they may without.
    pub fn allow_dynamic_shared(
        &self,
        module: ModuleHandle,
        name: &'static str,
        bytes: u32,
        _current: &Current<'_>,
    ) -> Result<(), Failure> {
        const LIMIT: sys::CUfunction_attribute =
            sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        if bytes == 0 {
            return Ok(());
        }
        let mut loaded = self.lock();
        let Some((function, _)) = loaded.functions.get_mut(&(module, name)) else {
            return Err(NOT_FOUND);
        };
        if bytes > function.dynamic_shared_bytes {
            let value = i32::try_from(bytes).unwrap_or(i32::MAX);
            // SAFETY: the function is of a loaded module; the driver checks the value.
            unsafe { call!(cuFuncSetAttribute(function.raw, LIMIT, value)) }?;
            function.dynamic_shared_bytes = bytes;
        }
        Ok(())
    }

    /// Unloads all modules.
    ///
    /// # Safety
    /// 1. No work that uses them is left, and none of their handles is used again.
    pub unsafe fn unload(&self, _current: &Current<'_>) {
        for RawModule(module) in self.lock().modules.drain(..) {
            // SAFETY: by (1) this is the last use of the module.
            let _ = unsafe { call!(cuModuleUnload(module)) };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address and the bytes of a static array.
fn find_global(
    RawModule(module): RawModule,
    name: &str,
    _current: &Current<'_>,
) -> Result<(u64, usize), Failure> {
    let name = CString::new(name).map_err(|_| NOT_FOUND)?;
    let (mut address, mut bytes) = (0, 0);
    let places = (&raw mut address, &raw mut bytes);
    // SAFETY: both are places for one number, the module is loaded, the name ends with 0.
    unsafe {
        call!(cuModuleGetGlobal_v2(
            places.0,
            places.1,
            module,
            name.as_ptr()
        ))
    }?;
    Ok((address, bytes))
}

/// Fails unless the signature beside the entry `name` is `expected`.
fn check_signature(
    module: RawModule,
    name: &str,
    expected: &Signature,
    current: &Current<'_>,
) -> Result<(), FunctionError> {
    let (address, bytes) = match find_global(module, &signature::symbol(name), current) {
        Err(NOT_FOUND) => return Err(FunctionError::OtherKernel(None)),
        found => found?,
    };
    let mut found = vec![0_u8; bytes];
    let destination = found.as_mut_ptr().cast();
    // Not in the device's stream: the array never changes, and earlier work need not be complete.
    // SAFETY: the destination has the bytes of the array, which the module holds.
    unsafe { call!(cuMemcpyDtoH_v2(destination, address, bytes)) }?;
    let found = String::from_utf8_lossy(&found).into_owned();
    if found == expected.to_string() {
        return Ok(());
    }
    Err(FunctionError::OtherKernel(Some(found)))
}

fn find_function(
    RawModule(module): RawModule,
    name: &str,
    _current: &Current<'_>,
) -> Result<Function, Failure> {
    use sys::CUfunction_attribute_enum as Attribute;
    let name = CString::new(name).map_err(|_| NOT_FOUND)?;
    let mut raw = ptr::null_mut();
    // SAFETY: `raw` is a place for one handle, the module is loaded, the name ends with 0.
    unsafe { call!(cuModuleGetFunction(&raw mut raw, module, name.as_ptr())) }?;
    let attribute = |attribute| {
        let mut value = 0;
        // SAFETY: `value` is a place for one number, and the function was just found.
        unsafe { call!(cuFuncGetAttribute(&raw mut value, attribute, raw)) }?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    Ok(Function {
        raw,
        max_threads: attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        registers: attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
        static_shared_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        dynamic_shared_bytes: attribute(
            Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        )?,
    })
}

/// `CUDA_ERROR_NOT_FOUND`, what the driver says of a name that no entry has.
pub const NOT_FOUND: Failure = Failure { code: 500 };

/// Compiles the best image that the driver accepts.
fn load_best(
    source: &ModuleSource,
    compute_capability: (u32, u32),
    current: &Current<'_>,
) -> Result<RawModule, LoadError> {
    let mut images = source.images().to_vec();
    images.sort_by_key(|(name, _)| std::cmp::Reverse(Architecture::parse(name)));
    let mut rejections = Vec::new();
    for (name, ptx) in images {
        let runs =
            Architecture::parse(name).is_some_and(|target| target.runs_on(compute_capability));
        if !runs {
            let reason = "it is for another compute capability".to_owned();
            rejections.push(rejection(name, ptx, reason));
            continue;
        }
        match compile(ptx, current) {
            Ok(module) => return Ok(module),
            Err((failure, _)) if !is_about_the_image(failure) => {
                return Err(LoadError::Driver(failure));
            }
            Err((failure, log)) => {
                rejections.push(rejection(name, ptx, format!("{failure}{log}")));
            }
        }
    }
    Err(LoadError::NoImage(rejections))
}

fn rejection(architecture: &'static str, ptx: &str, reason: String) -> ImageRejection {
    let version = images::ptx_version(ptx);
    ImageRejection {
        architecture,
        ptx_version: version.map_or("unknown".to_owned(), |(major, minor)| {
            format!("{major}.{minor}")
        }),
        needed_driver: version.and_then(images::needed_driver),
        reason,
    }
}

/// Whether another image may succeed where one has failed like this.
fn is_about_the_image(failure: Failure) -> bool {
    const INVALID_IMAGE: u32 = 200;
    const NO_BINARY_FOR_GPU: u32 = 209;
    const INVALID_PTX: u32 = 218;
    const UNSUPPORTED_PTX_VERSION: u32 = 222;
    const INVALID_SOURCE: u32 = 300;
    matches!(
        failure.code,
        INVALID_IMAGE | NO_BINARY_FOR_GPU | INVALID_PTX | UNSUPPORTED_PTX_VERSION | INVALID_SOURCE
    )
}

/// Compiles PTX with the driver's compiler. A failure comes with the compiler's log, on lines of
/// its own.
fn compile(ptx: &str, _current: &Current<'_>) -> Result<RawModule, (Failure, String)> {
    use sys::CUjit_option_enum as JitOption;
    const LOG_BYTES: usize = 16 << 10;
    let Ok(ptx) = CString::new(ptx) else {
        let failure = Failure { code: 300 };
        return Err((failure, "\n    the PTX has a zero byte".to_owned()));
    };
    let mut log = vec![0_u8; LOG_BYTES];
    let mut options = [
        JitOption::CU_JIT_ERROR_LOG_BUFFER,
        JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // A number is given in the place of a pointer.
    let mut values: [*mut c_void; 2] = [
        log.as_mut_ptr().cast(),
        ptr::without_provenance_mut(LOG_BYTES),
    ];
    let mut module = ptr::null_mut();
    // SAFETY: `module` is a place for one handle; the PTX ends with 0; there are two options, and
    // each has its value: the log, and the number of its bytes. A context is current.
    let result = unsafe {
        call!(cuModuleLoadDataEx(
            &raw mut module,
            ptx.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        ))
    };
    match result {
        Ok(()) => Ok(RawModule(module)),
        Err(failure) => Err((failure, indented(&log))),
    }
}

/// The lines of the log, each indented under the line that they explain.
fn indented(log: &[u8]) -> String {
    let text = CStr::from_bytes_until_nul(log).unwrap_or_default();
    text.to_string_lossy()
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| format!("\n    {}", line.trim_end()))
        .collect()
}

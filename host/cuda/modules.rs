//! Compiled modules and their functions, kept as long as the device.

use super::compile::{self, Compiled, LoadError, RawModule};
use super::context::Current;
use super::driver::{Failure, call};
use super::function::{Function, Key};
use super::known::Known;
use super::output::Outputs;
use super::static_order::Statics;
use super::statics::find_global;
use crate::backend::Entry;
use crate::locks::lock;
use crate::module_source::{ModuleId, ModuleSource};
use cuda_bindings::driver::sys;
use cuda_std::signature::{self, Signature};
use std::collections::HashMap;
use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::ffi::CString;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard};

/// All modules that a device has loaded.
#[derive(Debug)]
pub struct Modules {
    loaded: Mutex<Loaded>,
    /// The functions that were launched before. Threads that launch those do not wait for one another.
    pub known: Known,
    /// The output of their kernels. It has its own lock, because the error of a lost device reads it no matter what
    /// else is locked.
    pub outputs: Arc<Outputs>,
}

impl Default for Modules {
    fn default() -> Self {
        let outputs = Arc::<Outputs>::default();
        let loaded = Loaded {
            outputs: Arc::clone(&outputs),
            ..Loaded::default()
        };
        Self {
            loaded: Mutex::new(loaded),
            known: Known::default(),
            outputs,
        }
    }
}

/// The modules of a device, locked.
#[derive(Debug, Default)]
pub struct Loaded {
    modules: HashMap<ModuleId, Compiled>,
    /// Functions, with the signatures that were compared when they were looked up.
    functions: HashMap<Key, (Function, Option<&'static Signature>)>,
    outputs: Arc<Outputs>,
}

/// The reason why there is no function for an entry.
#[derive(Debug)]
pub enum FunctionError {
    /// Its module was not loaded.
    NotLoaded(LoadError),
    /// The module's entry with this name is another kernel, with this signature if it has one.
    OtherKernel(Option<String>),
    /// The driver failed.
    Driver(Failure),
}

impl From<Failure> for FunctionError {
    fn from(failure: Failure) -> Self {
        Self::Driver(failure)
    }
}

impl Modules {
    pub fn lock(&self) -> MutexGuard<'_, Loaded> {
        lock(&self.loaded)
    }

    /// Unloads all modules.
    ///
    /// # Safety
    /// 1. No work that uses them is left, and none of their functions is used again.
    pub unsafe fn unload(&self, current: &Current<'_>) {
        let mut loaded = self.lock();
        loaded.functions.clear();
        // SAFETY: no kernel runs or is launched any more: the caller's contract.
        unsafe { self.outputs.free(current) };
        for (_, compiled) in loaded.modules.drain() {
            let RawModule(module) = compiled.module;
            // SAFETY: this is the last use of the module: the caller's contract.
            let _ = unsafe { call!(cuModuleUnload(module)) };
        }
    }
}

impl Loaded {
    /// The module of `source`, compiled now from its best image for the device unless that was done before.
    pub fn module(
        &mut self,
        source: &'static ModuleSource,
        compute_capability: (u32, u32),
        current: &Current<'_>,
    ) -> Result<RawModule, LoadError> {
        let Self {
            modules, outputs, ..
        } = self;
        let compiled = module_of(modules, outputs, source, compute_capability, current)?;
        Ok(compiled.module)
    }

    /// The static arrays of a module that is loaded.
    pub fn statics(&self, source: &'static ModuleSource) -> Option<&Statics> {
        self.modules.get(&source.id()).map(|it| &it.statics)
    }

    /// The compiler's warnings that the code of a module is slow.
    pub fn warnings(
        &mut self,
        source: &'static ModuleSource,
        compute_capability: (u32, u32),
        current: &Current<'_>,
    ) -> Result<Vec<String>, LoadError> {
        let Self {
            modules, outputs, ..
        } = self;
        let compiled = module_of(modules, outputs, source, compute_capability, current)?;
        Ok(compiled.warnings.clone())
    }

    /// The kernel of a module. Its signature is compared when it is first looked up.
    pub fn function(
        &mut self,
        entry: &Entry,
        compute_capability: (u32, u32),
        current: &Current<'_>,
    ) -> Result<&mut Function, FunctionError> {
        let Self {
            modules,
            functions,
            outputs,
        } = self;
        match functions.entry(Key::of(entry)) {
            Occupied(known) if known.get().1 == entry.signature => Ok(&mut known.into_mut().0),
            place => {
                let compiled =
                    module_of(modules, outputs, entry.module, compute_capability, current)
                        .map_err(FunctionError::NotLoaded)?;
                let module = compiled.module;
                let function = find_function(compiled, entry.kernel, current)?;
                if let Some(signature) = entry.signature {
                    check_signature(module, entry.kernel, signature, current)?;
                }
                let found = place.insert_entry((function, entry.signature));
                Ok(&mut found.into_mut().0)
            }
        }
    }
}

/// The module of `source` among `modules`, where it is added if necessary.
fn module_of<'a>(
    modules: &'a mut HashMap<ModuleId, Compiled>,
    outputs: &Outputs,
    source: &'static ModuleSource,
    compute_capability: (u32, u32),
    current: &Current<'_>,
) -> Result<&'a Compiled, LoadError> {
    match modules.entry(source.id()) {
        Occupied(loaded) => Ok(loaded.into_mut()),
        Vacant(place) => {
            let compiled = compile::load_best(source, compute_capability, current)?;
            let attached = outputs.attach(source.id(), &compiled, current);
            attached.map_err(LoadError::Driver)?;
            Ok(place.insert(compiled))
        }
    }
}

/// Fails unless the module's signature of the entry `name` is `expected`.
fn check_signature(
    module: RawModule,
    name: &str,
    expected: &Signature,
    current: &Current<'_>,
) -> Result<(), FunctionError> {
    let (address, bytes) = match find_global(module, &signature::symbol(name), current) {
        Err(Failure::NOT_FOUND) => return Err(FunctionError::OtherKernel(None)),
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
    compiled: &Compiled,
    name: &str,
    _current: &Current<'_>,
) -> Result<Function, Failure> {
    let RawModule(module) = compiled.module;
    use sys::CUfunction_attribute_enum as Attribute;
    let name = CString::new(name).map_err(|_| Failure::NOT_FOUND)?;
    let mut raw = ptr::null_mut();
    // SAFETY: `raw` is valid for one handle, the module is loaded, and the name ends with 0.
    unsafe { call!(cuModuleGetFunction(&raw mut raw, module, name.as_ptr())) }?;
    let attribute = |attribute| {
        let mut value = 0;
        // SAFETY: `value` is valid for one number, and the function was just found.
        unsafe { call!(cuFuncGetAttribute(&raw mut value, attribute, raw)) }?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    Ok(Function {
        raw,
        has_statics: compiled.statics.are_there(),
        max_threads: attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        registers: attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
        static_shared_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        dynamic_shared_bytes: attribute(
            Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        )?,
    })
}

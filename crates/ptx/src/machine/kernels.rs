//! Kernels by name.

use super::kernel::Kernel;
use super::variables::Variables;
use crate::decode::{Program, ProgramError, globals};
use crate::error::ReadError;
use crate::syntax::Module;
use simt::OutOfMemory;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// Kernels of several modules. The first request for one reads, decodes and keeps it.
#[derive(Default)]
pub struct Kernels {
    modules: Mutex<HashMap<String, Known>>,
}

/// A module, and those of its kernels that were requested.
struct Known {
    module: Module,
    variables: Variables,
    kernels: HashMap<String, Kernel>,
}

/// The reason why a kernel is missing or cannot be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The module has no PTX.
    #[error("there is no PTX of module `{0}`")]
    Missing(String),
    /// The PTX of a module cannot be read.
    #[error("the PTX of module `{0}`: {1}")]
    Read(String, #[source] ReadError),
    /// Its PTX cannot be run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The host has no memory left.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl Kernels {
    /// The kernel `name` of the module `module`, whose PTX `text` returns if the module is not known yet.
    ///
    /// # Errors
    /// [`KernelError`] if there is no PTX, or none that can be run.
    pub fn get<T: AsRef<str>>(
        &self,
        module: &str,
        name: &str,
        text: impl FnOnce() -> Option<T>,
    ) -> Result<Kernel, KernelError> {
        self.with(module, text, |known| {
            if let Some(kernel) = known.kernels.get(name) {
                return Ok(kernel.clone());
            }
            let program = Program::new(&known.module, name)?;
            let kernel = Kernel::with_variables(program, &known.variables)?;
            known.kernels.insert(name.to_owned(), kernel.clone());
            Ok(kernel)
        })
    }

    /// The exposed address of a variable of a module, and its size in bytes; none if the module has no variable of that
    /// name in global memory. The memory lives as long as this value.
    ///
    /// # Errors
    /// [`KernelError`] if there is no PTX, or none that can be read.
    pub fn variable<T: AsRef<str>>(
        &self,
        module: &str,
        name: &str,
        text: impl FnOnce() -> Option<T>,
    ) -> Result<Option<(usize, usize)>, KernelError> {
        self.with(module, text, |known| {
            known.variables.of(&globals(&known.module))?;
            Ok(known.variables.address(name))
        })
    }

    fn with<T: AsRef<str>, R>(
        &self,
        name: &str,
        text: impl FnOnce() -> Option<T>,
        action: impl FnOnce(&mut Known) -> Result<R, KernelError>,
    ) -> Result<R, KernelError> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = modules.get_mut(name) {
            return action(known);
        }
        let text = text().ok_or_else(|| KernelError::Missing(name.to_owned()))?;
        let module: Result<Module, ReadError> = text.as_ref().parse();
        let module = module.map_err(|error| KernelError::Read(name.to_owned(), error))?;
        let known = modules.entry(name.to_owned()).or_insert(Known {
            module,
            variables: Variables::default(),
            kernels: HashMap::new(),
        });
        action(known)
    }
}

impl fmt::Debug for Kernels {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Kernels").finish_non_exhaustive()
    }
}

//! Kernels by name.

use super::kernel::Kernel;
use crate::decode::{Program, ProgramError};
use crate::error::ReadError;
use crate::syntax::Module;
use simt::OutOfMemory;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// Kernels, each read, decoded and kept when it is first asked for.
#[derive(Default)]
pub struct Kernels {
    known: Mutex<HashMap<String, Kernel>>,
}

/// A kernel that there is not, or that cannot be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// There is no PTX of it.
    #[error("there is no PTX of kernel `{0}`")]
    Missing(String),
    /// Its PTX cannot be read.
    #[error("the PTX of kernel `{0}`: {1}")]
    Read(String, #[source] ReadError),
    /// Its PTX cannot be run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The host has no memory left.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl Kernels {
    /// The kernel `name`, of the PTX that `text` returns if the kernel is not known yet.
    ///
    /// # Errors
    /// [`KernelError`] if there is no PTX, or none that can be run.
    pub fn get<T: AsRef<str>>(
        &self,
        name: &str,
        text: impl FnOnce() -> Option<T>,
    ) -> Result<Kernel, KernelError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = known.get(name) {
            return Ok(kernel.clone());
        }
        let text = text().ok_or_else(|| KernelError::Missing(name.to_owned()))?;
        let module: Result<Module, ReadError> = text.as_ref().parse();
        let module = module.map_err(|error| KernelError::Read(name.to_owned(), error))?;
        let kernel = Kernel::new(Program::new(&module, name)?)?;
        known.insert(name.to_owned(), kernel.clone());
        Ok(kernel)
    }
}

impl fmt::Debug for Kernels {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Kernels").finish_non_exhaustive()
    }
}

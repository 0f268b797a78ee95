//! A function of a compiled module, and the key that finds it.

use super::context::Current;
use super::driver::{Failure, call};
use crate::backend::Entry;
use crate::module_source::ModuleId;
use cuda_bindings::driver::sys;

/// A kernel in a compiled module, with the limits of its compiled code.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub raw: sys::CUfunction,
    /// Maximum number of threads in a block, by the code's registers.
    pub max_threads: u32,
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes of static shared memory of each block.
    pub static_shared_bytes: u32,
    /// Whether the module has static arrays.
    pub has_statics: bool,
    /// Bytes of dynamic shared memory that launches may use so far.
    pub dynamic_shared_bytes: u32,
}

// SAFETY: any thread may call the driver's functions with a function.
unsafe impl Send for Function {}
// SAFETY: as for `Send`.
unsafe impl Sync for Function {}

impl Function {
    /// Lets launches use `bytes` of dynamic shared memory. Up to 48 KiB, including static shared memory, needs no
    /// permission.
    pub fn allow_dynamic_shared(
        &mut self,
        bytes: u32,
        _current: &Current<'_>,
    ) -> Result<(), Failure> {
        const LIMIT: sys::CUfunction_attribute =
            sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        if bytes > self.dynamic_shared_bytes {
            let value = i32::try_from(bytes).unwrap_or(i32::MAX);
            // SAFETY: the function is of a loaded module; the driver checks the value.
            unsafe { call!(cuFuncSetAttribute(self.raw, LIMIT, value)) }?;
            self.dynamic_shared_bytes = bytes;
        }
        Ok(())
    }
}

/// The key of a launch's function. The name is compared by address, which is faster than by text. A name that a
/// program has at two addresses has two places, for the same function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    module: ModuleId,
    name_address: usize,
    name_bytes: usize,
}

impl Key {
    pub fn of(entry: &Entry) -> Self {
        Self {
            module: entry.module.id(),
            name_address: entry.kernel.as_ptr().addr(),
            name_bytes: entry.kernel.len(),
        }
    }

    /// A number whose upper bits differ between most keys.
    pub fn mixed(self) -> u64 {
        // Multiplicative hashing: the upper bits of a product with 2^64 divided by the golden ratio.
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed = self.module.number().wrapping_mul(FACTOR) ^ self.name_address as u64;
        mixed.wrapping_mul(FACTOR)
    }
}

//! Code that runs in place of kernels' functions.

use crate::backend::{LaunchRequest, SymbolRequest};
#[cfg(feature = "ptx")]
use crate::module_source::ModuleId;
use std::fmt;
use std::ptr;
use std::sync::Arc;

/// A launch on a simulated device, as the driver of a GPU would get it.
#[derive(Debug)]
#[non_exhaustive]
pub struct KernelCall<'a> {
    /// The name of the kernel in its PTX module.
    pub name: &'static str,
    /// The name of the module.
    pub module: &'static str,
    /// The module's PTX, by architecture; empty in a program without CUDA.
    pub images: &'static [(&'static str, &'static str)],
    /// The bytes of each PTX parameter.
    pub parameters: Vec<&'a [u8]>,
    /// The module itself; others may share its name and its PTX.
    #[cfg(feature = "ptx")]
    pub(super) id: ModuleId,
}

/// A static array of a module of a simulated device.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SymbolCall {
    /// The name in the PTX.
    pub name: &'static str,
    /// The name of the module.
    pub module: &'static str,
    /// The module's PTX, by architecture; empty in a program without CUDA.
    pub images: &'static [(&'static str, &'static str)],
    /// The bytes of the array.
    pub bytes: usize,
    /// The module itself; others may share its name and its PTX.
    #[cfg(feature = "ptx")]
    pub(super) id: ModuleId,
}

type Find = dyn Fn(&SymbolCall) -> Option<usize> + Send + Sync;

type Choose = dyn Fn(&KernelCall<'_>) -> Option<simt::Body> + Send + Sync;

/// Chooses the code that the threads of a simulated launch run in place of the kernel's function, such as its PTX.
///
/// Static arrays of a module remain those of the kernels' functions, unless [`with_symbols`](Self::with_symbols)
/// replaces them: [`Module::write_symbol`](crate::Module::write_symbol) writes those.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use tilewright::{Device, KernelBodies, SimulatorOptions};
///
/// # fn main() -> tilewright::Result<()> {
/// let names = Arc::new(Mutex::new(Vec::new()));
/// let of_launches = Arc::clone(&names);
/// let choose = move |call: &tilewright::KernelCall<'_>| {
///     of_launches.lock().unwrap().push(call.name);
///     None
/// };
/// // SAFETY: all kernels stay as they are.
/// let bodies = unsafe { KernelBodies::new(choose) };
/// let device = Device::simulator_with(SimulatorOptions::default().with_bodies(bodies));
/// assert_eq!(device.reduce_sum(&device.upload(&[1_u32; 100])?)?, 100);
/// assert_eq!(*names.lock().unwrap(), ["reduce_sum_u32"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct KernelBodies {
    choose: Arc<Choose>,
    find: Option<Arc<Find>>,
    /// Makes the bodies of another device, if they have static arrays.
    renew: Option<fn() -> Self>,
}

impl KernelBodies {
    /// Asks `choose` at each launch. On `None`, the kernel's function runs.
    ///
    /// # Safety
    /// 1. A body does what the kernel does with these parameters: it accesses no other memory, and no memory in another
    ///    way.
    pub unsafe fn new(
        choose: impl Fn(&KernelCall<'_>) -> Option<simt::Body> + Send + Sync + 'static,
    ) -> Self {
        Self {
            choose: Arc::new(choose),
            find: None,
            renew: None,
        }
    }

    /// The same bodies with static arrays that no other device has, made by `renew`.
    #[cfg(feature = "ptx")]
    pub(super) fn renewed_by(self, renew: fn() -> Self) -> Self {
        Self {
            renew: Some(renew),
            ..self
        }
    }

    /// Those of a new device.
    pub(super) fn of_device(self) -> Self {
        self.renew.map_or(self, |renew| renew())
    }

    /// Asks `find` for the address of a static array that the host reads or writes. `None` leaves it where the kernels'
    /// functions have it.
    ///
    /// # Safety
    /// 1. A returned address is exposed, and valid for reads and writes of the array's bytes until the device is dropped.
    ///    They are initialised, and other threads access them through [`simt`] alone.
    #[must_use]
    pub unsafe fn with_symbols(
        self,
        find: impl Fn(&SymbolCall) -> Option<usize> + Send + Sync + 'static,
    ) -> Self {
        Self {
            find: Some(Arc::new(find)),
            renew: None,
            ..self
        }
    }

    /// The bytes of a static array, if `find` has moved them.
    pub(super) fn symbol(&self, symbol: &SymbolRequest) -> Option<impl Iterator<Item = *mut u8>> {
        let bytes = symbol.initial.len();
        let address = (self.find.as_ref()?)(&SymbolCall {
            name: symbol.name,
            module: symbol.module.name(),
            images: symbol.module.images(),
            bytes,
            #[cfg(feature = "ptx")]
            id: symbol.module.id(),
        })?;
        Some((address..address + bytes).map(ptr::with_exposed_provenance_mut))
    }

    /// The code that the threads of a launch run.
    pub(super) fn body(&self, request: &LaunchRequest<'_>) -> Option<simt::Body> {
        (self.choose)(&KernelCall {
            name: request.entry.kernel,
            module: request.entry.module.name(),
            images: request.entry.module.images(),
            parameters: request.params.bytes().collect(),
            #[cfg(feature = "ptx")]
            id: request.entry.module.id(),
        })
    }
}

impl fmt::Debug for KernelBodies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("KernelBodies")
            .finish_non_exhaustive()
    }
}

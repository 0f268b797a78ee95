//! Other code for kernels than their functions.

use crate::backend::LaunchRequest;
use std::fmt;
use std::sync::Arc;

/// A launch on a simulated device, as the driver of a GPU would get it.
#[derive(Debug)]
#[non_exhaustive]
pub struct KernelCall<'a> {
    /// The name of the kernel in its PTX module.
    pub name: &'static str,
    /// The module's PTX, by architecture; empty in a program without CUDA.
    pub images: &'static [(&'static str, &'static str)],
    /// The bytes of each PTX parameter.
    pub parameters: Vec<&'a [u8]>,
}

type Choose = dyn Fn(&KernelCall<'_>) -> Option<simt::Body> + Send + Sync;

/// Chooses what the threads of a simulated launch run: something else than the kernel's function, such as its PTX.
///
/// Static arrays of a module remain those of the kernels' functions: another body does not see what
/// [`Module::write_symbol`](crate::Module::write_symbol) writes.
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
pub struct KernelBodies(Arc<Choose>);

impl KernelBodies {
    /// Asks `choose` at each launch. `None` leaves the kernel as it is.
    ///
    /// # Safety
    /// 1. A body does what the kernel does with these parameters: it accesses no other memory, and the same in no other
    ///    way.
    pub unsafe fn new(
        choose: impl Fn(&KernelCall<'_>) -> Option<simt::Body> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(choose))
    }

    /// What the threads of a launch run.
    pub(super) fn body(&self, request: &LaunchRequest<'_>) -> Option<simt::Body> {
        (self.0)(&KernelCall {
            name: request.entry.kernel,
            images: request.entry.module.images(),
            parameters: request.params.bytes().collect(),
        })
    }
}

impl fmt::Debug for KernelBodies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KernelBodies").finish_non_exhaustive()
    }
}

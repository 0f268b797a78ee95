//! Modules: PTX images of kernels, and their launches.

use crate::backend::{LaunchRequest, ModuleHandle};
use crate::device::Device;
use crate::error::Result;
use crate::launch::LaunchConfig;
use crate::launch_args::LaunchArgs;
use cuda_std::kernel::{Kernel, ParamSlots, SafeKernel};

/// Kernels compiled to PTX, once for each of some architectures.
///
/// It is a `static` of the program; `cuda_builder` writes the PTX that goes into it.
#[derive(Debug)]
pub struct ModuleSource {
    name: &'static str,
    images: &'static [(&'static str, &'static str)],
}

impl ModuleSource {
    /// A module with PTX `images`, each with the architecture that it was compiled for.
    ///
    /// An image for `sm_80` runs on compute capability 8.0 and every later one; one for `sm_90a`
    /// runs on 9.0 only. Order does not matter: a device takes the best image that it can run.
    /// A module for the simulator alone needs no images.
    ///
    /// # Safety
    /// 1. Each image was compiled from the same source as the kernels that are launched from
    ///    this module: an entry point has the name, the parameters and the behaviour of the
    ///    [`Kernel`] that names it.
    #[must_use]
    pub const unsafe fn new(
        name: &'static str,
        images: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { name, images }
    }

    /// The module's name, for messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The PTX images, each with its architecture.
    #[must_use]
    pub const fn images(&self) -> &'static [(&'static str, &'static str)] {
        self.images
    }
}

/// A module that a device has loaded. A clone is the same module.
#[derive(Clone, Debug)]
pub struct Module {
    device: Device,
    handle: ModuleHandle,
}

impl Module {
    pub(crate) fn load(device: &Device, source: &'static ModuleSource) -> Result<Self> {
        let handle = device.backend().load(source)?;
        Ok(Self {
            device: device.clone(),
            handle,
        })
    }

    /// The device that loaded the module.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Launches a safe kernel. Work that is asked for later sees what it wrote.
    ///
    /// `arguments` is a tuple with one value for each of the kernel's parameters: see
    /// [`LaunchArg`](crate::LaunchArg). On CUDA the call returns before the kernel has run; on
    /// the simulator it returns afterwards.
    ///
    /// # Errors
    /// [`Error::LaunchConfig`](crate::Error::LaunchConfig) if the kernel or the device does not
    /// allow `config`; [`Error::WrongDevice`](crate::Error::WrongDevice) if an argument is of
    /// another device; [`Error::KernelDefect`](crate::Error::KernelDefect) if the simulator finds
    /// a defect; [`Error::Launch`](crate::Error::Launch),
    /// [`Error::Cuda`](crate::Error::Cuda) or [`Error::DeviceLost`](crate::Error::DeviceLost).
    pub fn launch<K, A>(&self, kernel: K, config: LaunchConfig, arguments: A) -> Result<()>
    where
        K: SafeKernel,
        A: LaunchArgs<K::Params>,
    {
        // SAFETY: (1) a safe kernel asks for nothing beyond valid parameters.
        unsafe { self.launch_unsafe(kernel, config, arguments) }
    }

    /// Launches any kernel, also one whose source says `unsafe fn`.
    ///
    /// # Safety
    /// 1. The launch keeps what the kernel's documentation asks for: of `config`, and of the
    ///    values in `arguments`.
    ///
    /// # Errors
    /// Those of [`launch`](Self::launch).
    pub unsafe fn launch_unsafe<K, A>(
        &self,
        kernel: K,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<()>
    where
        K: Kernel,
        A: LaunchArgs<K::Params>,
    {
        let params = arguments.into_params(&self.device, K::NAME)?;
        // SAFETY: (1) is (1). (2) Each view is of a buffer of this device that is borrowed for
        // this call, mutably if the kernel can write it; later work comes later in the device's
        // order.
        unsafe { self.launch_params(kernel, config, params) }
    }

    /// Launches a kernel with parameters that are views already.
    ///
    /// # Safety
    /// 1. The launch keeps what the kernel's documentation asks for: of `config`, and of `params`.
    /// 2. Every view is of live memory of this device, and until this call returns nobody else
    ///    asks for work that writes what the kernel reads or touches what it writes.
    pub(crate) unsafe fn launch_params<K: Kernel>(
        &self,
        _kernel: K,
        config: LaunchConfig,
        params: K::Params,
    ) -> Result<()> {
        config.check::<K>(self.device.properties())?;
        // SAFETY: (1) of `Kernel::run` is (1) of this method, (2) is (2): the simulator is done
        // when `launch` returns.
        let body = || unsafe { K::run(params) };
        let slots = ParamSlots::of(params);
        let request = LaunchRequest {
            module: self.handle,
            kernel: K::NAME,
            config,
            bounds: K::BOUNDS,
            slots: slots.as_slice(),
            body: &body,
        };
        // SAFETY: (1) this device loaded the module; by (1) of `ModuleSource::new` its entry
        // `K::NAME` takes the parameters of `K`, and `ParamSlots` has them as the entry declares
        // them. (2) `body` runs `K` with the same parameters. (3) is (2) of this method, and work
        // that is asked for later comes later in the device's order. (4) is (1) of this method.
        unsafe { self.device.backend().launch(&request) }
    }
}

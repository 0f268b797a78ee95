//! Modules: loaded kernels, and their launches.

mod borrowed;
mod resident;

pub(crate) use borrowed::ModuleRef;

use crate::backend::SymbolRequest;
use crate::device::Device;
use crate::error::{During, Outcome, Result, check_length};
use crate::kernels::OwnKernel;
use crate::launch::LaunchConfig;
use crate::launch_args::LaunchArgs;
use crate::module_source::ModuleSource;
use cuda_std::kernel::{Kernel, SafeKernel};
use cuda_std::symbol::Symbol;

/// A module of kernels, loaded on a device. A clone refers to the same module.
#[derive(Clone, Debug)]
pub struct Module {
    device: Device,
    source: &'static ModuleSource,
}

impl Device {
    /// Loads a module of kernels, unless this device has already loaded it.
    ///
    /// On CUDA, the driver compiles the module's best image for the device. The simulator loads nothing.
    ///
    /// ```
    /// use cuda_std::prelude::*;
    /// use tilewright::{Device, LaunchConfig, ModuleSource};
    ///
    /// /// Doubles each element.
    /// #[kernel]
    /// pub fn double(x: GlobalMut<f32>) {
    ///     if let Some(x) = x.own(thread::unique_index()) {
    ///         x.set(2.0 * x.get());
    ///     }
    /// }
    ///
    /// // SAFETY: there are no images that could differ from the kernel.
    /// static KERNELS: ModuleSource = unsafe { ModuleSource::new("my_kernels", &[]) };
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let kernels = device.load(&KERNELS)?;
    /// let mut x = device.upload(&[1.0_f32, 2.0, 3.0])?;
    /// kernels.launch(double, LaunchConfig::for_elements(3, 128), (&mut x,))?;
    /// assert_eq!(x.to_vec()?, [2.0, 4.0, 6.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoModule`](crate::ErrorKind::NoModule) if the device can run none of the images, and those of
    /// [`Device::zeros`].
    pub fn load(&self, source: &'static ModuleSource) -> Result<Module> {
        self.backend().load(source).during("load")?;
        Ok(Module {
            device: self.clone(),
            source,
        })
    }
}

impl Module {
    /// The module of `source`. Its first launch loads it, unless that was done before.
    pub(crate) fn on_demand<'a>(
        device: &'a Device,
        source: &'static ModuleSource,
    ) -> ModuleRef<'a> {
        ModuleRef { device, source }
    }

    /// Launches a kernel of this crate.
    ///
    /// # Safety
    /// The requirements of [`ModuleRef::launch_params`].
    pub(crate) unsafe fn launch_own<K: OwnKernel>(
        device: &Device,
        config: LaunchConfig,
        params: K::Params<'_>,
    ) -> Outcome<()> {
        // SAFETY: the caller's contract.
        unsafe { Self::on_demand(device, K::MODULE).launch_params::<K>(config, params) }
    }

    /// The module, for calls that do not outlive it.
    pub(crate) fn by_ref(&self) -> ModuleRef<'_> {
        Self::on_demand(&self.device, self.source)
    }

    /// The device that loaded the module.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The driver's compiler warnings about the module's speed, one for each line of its log.
    ///
    /// They warn that a warpgroup's products do not overlap with its other work ("wgmma.mma_async instructions are
    /// serialized", C7510 to C7519), or that `setmaxnreg` is ignored (C7508). The results are correct nevertheless.
    /// The list is empty on the simulator, which compiles nothing.
    ///
    /// If the driver's compiler and the toolkit's differ in version, they may give different warnings. A test of a
    /// kernel with such products should assert that there are no warnings.
    ///
    /// # Errors
    /// The errors of [`Device::load`] if the module was not loaded before.
    pub fn compiler_warnings(&self) -> Result<Vec<String>> {
        let warnings = self.device.backend().warnings(self.source);
        warnings.during("compiler_warnings")
    }

    /// Overwrites all elements of a static array of the module's kernel crate ([`cuda_std::symbol`]).
    ///
    /// Launches that are submitted later see the new values; earlier ones do not. Each device has its own copy of the
    /// module's arrays.
    ///
    /// ```
    /// use cuda_std::prelude::*;
    /// use tilewright::{Device, LaunchConfig, ModuleSource};
    ///
    /// global_array! {
    ///     static TOTALS: [f32; 4] = [0.0; 4];
    /// }
    ///
    /// /// Adds to each of the totals.
    /// #[kernel]
    /// pub fn add(x: Global<f32>) {
    ///     TOTALS.with(|totals| {
    ///         let i = thread::unique_index();
    ///         if let (Some(x), Some(total)) = (x.get(i.get()), totals.own(i)) {
    ///             total.set(total.get() + x);
    ///         }
    ///     });
    /// }
    /// // SAFETY: there are no images that could differ from the kernel.
    /// static KERNELS: ModuleSource = unsafe { ModuleSource::new("totals", &[]) };
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let module = device.load(&KERNELS)?;
    /// module.write_symbol(&TOTALS, &[1.0, 2.0, 3.0, 4.0])?;
    /// let x = device.upload(&[10.0_f32; 4])?;
    /// module.launch(add, LaunchConfig::new(1, 4), (&x,))?;
    /// assert_eq!(module.read_symbol(&TOTALS)?, [11.0, 12.0, 13.0, 14.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `values` and the array differ in length;
    /// [`ErrorKind::NoSymbol`](crate::ErrorKind::NoSymbol) if the module's image has no such array, which cannot
    /// happen on the simulator; those of [`Device::synchronize`].
    pub fn write_symbol<S: Symbol>(&self, symbol: &'static S, values: &[S::Element]) -> Result<()> {
        self.write(symbol, values).during("write_symbol")
    }

    fn write<S: Symbol>(&self, symbol: &'static S, values: &[S::Element]) -> Outcome<()> {
        let (rule, expected) = ("as many as the array", symbol.initial_values().len());
        check_length("the slice of values", values.len(), expected, rule)?;
        let request = self.symbol(symbol);
        self.device
            .backend()
            .write_symbol(&request, bytemuck::cast_slice(values))
    }

    /// Copies all elements of a static array of the module's kernel crate, after all earlier work.
    ///
    /// See [`write_symbol`](Self::write_symbol).
    ///
    /// # Errors
    /// [`ErrorKind::NoSymbol`](crate::ErrorKind::NoSymbol) if the module's image has no such array, which cannot
    /// happen on the simulator; those of [`Device::synchronize`].
    pub fn read_symbol<S: Symbol>(&self, symbol: &'static S) -> Result<Vec<S::Element>> {
        let mut values = symbol.initial_values().to_vec();
        let request = self.symbol(symbol);
        let destination = bytemuck::cast_slice_mut(&mut values);
        let read = self.device.backend().read_symbol(&request, destination);
        read.map(|()| values).during("read_symbol")
    }

    fn symbol<S: Symbol>(&self, symbol: &'static S) -> SymbolRequest {
        SymbolRequest {
            module: self.source,
            name: symbol.name(),
            initial: bytemuck::cast_slice(symbol.initial_values()),
        }
    }

    /// Launches a safe kernel. Work that is submitted later sees its results.
    ///
    /// `arguments` is a tuple with one value for each of the kernel's parameters: see
    /// [`LaunchArg`](crate::LaunchArg). On CUDA, the call returns before the kernel has run; on the simulator, it
    /// returns afterwards.
    ///
    /// A `#[kernel(cooperative)]` is launched cooperatively: all its blocks are resident at once and can wait for
    /// each other. [`max_resident_blocks`](Self::max_resident_blocks) limits its grid.
    ///
    /// ```
    /// use tilewright::cuda_std::prelude::*;
    /// use tilewright::{Device, LaunchConfig, ModuleSource};
    ///
    /// /// y = a x + y.
    /// #[kernel]
    /// pub fn saxpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    ///     let i = thread::unique_index();
    ///     if let (Some(x), Some(y)) = (x.get(i.get()), y.own(i)) {
    ///         y.set(a.mul_add(x, y.get()));
    ///     }
    /// }
    ///
    /// // SAFETY: there are no images that could differ from the kernel. A build script's images make it run on GPUs.
    /// static KERNELS: ModuleSource = unsafe { ModuleSource::new("my_kernels", &[]) };
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[1.0_f32, 2.0, 3.0])?;
    /// let mut y = device.zeros::<f32>(3)?;
    /// let config = LaunchConfig::for_elements(3, 128);
    /// device.load(&KERNELS)?.launch(saxpy, config, (2.0_f32, &x, &mut y))?;
    /// assert_eq!(y.to_vec()?, [2.0, 4.0, 6.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::LaunchConfig`](crate::ErrorKind::LaunchConfig) if the kernel or the device does not allow
    /// `config`; [`ErrorKind::NotResident`](crate::ErrorKind::NotResident) if a cooperative launch has too many
    /// blocks; [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if an argument is on another device;
    /// [`ErrorKind::KernelDefect`](crate::ErrorKind::KernelDefect) if the simulator finds a defect;
    /// [`ErrorKind::OtherKernel`](crate::ErrorKind::OtherKernel) if the module has a different kernel
    /// under this name; [`ErrorKind::Launch`](crate::ErrorKind::Launch), and those of [`Device::load`].
    pub fn launch<'launch, K, A>(&self, kernel: K, config: LaunchConfig, arguments: A) -> Result<()>
    where
        K: SafeKernel,
        A: LaunchArgs<K::Params<'launch>>,
    {
        // SAFETY: a safe kernel has no requirements beyond valid parameters.
        unsafe { self.launch_unsafe(kernel, config, arguments) }
    }

    /// Launches any kernel, including one that is declared `unsafe fn`.
    ///
    /// # Safety
    /// 1. The launch meets the requirements in the kernel's documentation, for `config` and for the values in
    ///    `arguments`.
    ///
    /// # Errors
    /// The errors of [`launch`](Self::launch).
    pub unsafe fn launch_unsafe<'launch, K, A>(
        &self,
        kernel: K,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<()>
    where
        K: Kernel,
        A: LaunchArgs<K::Params<'launch>>,
    {
        // SAFETY: the launch meets the kernel's requirements: the caller's contract.
        unsafe { self.launch_args(kernel, config, arguments) }.during("launch")
    }

    /// Launches a kernel, without the call's name in errors.
    ///
    /// # Safety
    /// 1. The launch meets the requirements in the kernel's documentation, as for
    ///    [`launch_unsafe`](Self::launch_unsafe).
    pub(crate) unsafe fn launch_args<'launch, K, A>(
        &self,
        _kernel: K,
        config: LaunchConfig,
        arguments: A,
    ) -> Outcome<()>
    where
        K: Kernel,
        A: LaunchArgs<K::Params<'launch>>,
    {
        let params = arguments.into_params(&self.device, K::NAME)?;
        // SAFETY: the launch meets the kernel's requirements: the caller's contract. Views of live memory without
        // conflicting work: each view is of a buffer of this device that is borrowed for this call, mutably if the
        // kernel can write it, and later work comes later in the device's order.
        unsafe { self.by_ref().launch_params::<K>(config, params) }
    }
}

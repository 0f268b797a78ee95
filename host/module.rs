//! Modules: loaded kernels, and their launches.

mod resident;

use crate::backend::{Entry, LaunchRequest, SymbolRequest};
use crate::device::Device;
use crate::error::{During, Outcome, Result, check_length};
use crate::launch::{KernelLimits, LaunchConfig};
use crate::launch_args::LaunchArgs;
use crate::module_source::ModuleSource;
use cuda_std::kernel::{EntryParams, Kernel, KernelParams, ParamCopies, SafeKernel};
use cuda_std::symbol::Symbol;

/// A module that a device has loaded. A clone is the same module.
#[derive(Clone, Debug)]
pub struct Module {
    device: Device,
    source: &'static ModuleSource,
}

impl Device {
    /// Loads a module of kernels, or finds it among those that this device loaded before.
    ///
    /// On CUDA this compiles the best of the module's images for the device; the simulator loads
    /// nothing.
    ///
    /// ```
    /// use cuda_std::prelude::*;
    /// use tilewright::{Device, LaunchConfig, ModuleSource};
    ///
    /// /// Doubles each element.
    /// #[kernel]
    /// pub fn double(x: GlobalMut<f32>) {
    ///     if let Some(x) = x.own(thread::own_index()) {
    ///         x.set(2.0 * x.get());
    ///     }
    /// }
    ///
    /// // SAFETY: (1) there are no images, so none that could differ from the kernel.
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
    /// [`ErrorKind::NoModule`](crate::ErrorKind::NoModule) if the device can run none of the images; [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory),
    /// [`ErrorKind::DeviceLost`](crate::ErrorKind::DeviceLost) or [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
    pub fn load(&self, source: &'static ModuleSource) -> Result<Module> {
        self.backend().load(source).during("load")?;
        Ok(Module::on_demand(self, source))
    }
}

impl Module {
    /// The module of `source`, which its first launch loads, unless that was done before.
    pub(crate) fn on_demand(device: &Device, source: &'static ModuleSource) -> Self {
        Self {
            device: device.clone(),
            source,
        }
    }

    /// The device that loaded the module.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What the driver's compiler remarked about the module's speed, a line of its log for each remark:
    /// that products of a warpgroup do not run beside their warps ("wgmma.mma_async instructions are
    /// serialized", C7510 to C7519), or that `setmaxnreg` is ignored (C7508). The results are right all
    /// the same. Empty on the simulator, which compiles nothing.
    ///
    /// The driver's compiler may be another version than a toolkit's, so that one may remark what the
    /// other does not. A test for a kernel with such products asserts that there are none.
    ///
    /// # Errors
    /// Those of [`Device::load`], if the module was not loaded before.
    pub fn compiler_warnings(&self) -> Result<Vec<String>> {
        let warnings = self.device.backend().warnings(self.source);
        warnings.during("compiler_warnings")
    }

    pub(crate) fn entry<K: Kernel>(&self) -> Entry {
        Entry {
            module: self.source,
            kernel: K::NAME,
            signature: K::SIGNATURE,
        }
    }

    /// Overwrites all elements of a static array of the module's kernel crate
    /// ([`cuda_std::symbol`]): launches that are submitted later see them, and earlier ones
    /// do not. Every device has its own copy of the module's arrays.
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
    ///     let i = thread::own_index();
    ///     TOTALS.with(|totals| {
    ///         if let (Some(x), Some(total)) = (x.get(i.get()), totals.own(i)) {
    ///             total.set(total.get() + x);
    ///         }
    ///     });
    /// }
    /// // SAFETY: (1) there are no images.
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
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `values` has another length than the array;
    /// [`ErrorKind::NoSymbol`](crate::ErrorKind::NoSymbol) if the module's image has no such array, which on the simulator cannot
    /// be; [`ErrorKind::DeviceLost`](crate::ErrorKind::DeviceLost) or [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
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

    /// A copy of all elements of a static array of the module's kernel crate, as the work that
    /// was submitted before leaves them: see [`write_symbol`](Self::write_symbol).
    ///
    /// # Errors
    /// [`ErrorKind::NoSymbol`](crate::ErrorKind::NoSymbol) if the module's image has no such array, which on the simulator cannot
    /// be; [`ErrorKind::DeviceLost`](crate::ErrorKind::DeviceLost) or [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
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

    /// Launches a safe kernel. Work that is submitted later sees what it wrote.
    ///
    /// A `#[kernel(cooperative)]` is launched cooperatively: all of its blocks are resident at once
    /// and can wait for each other. [`max_resident_blocks`](Self::max_resident_blocks) says how many
    /// blocks its grid can have.
    ///
    /// `arguments` is a tuple with one value for each of the kernel's parameters: see
    /// [`LaunchArg`](crate::LaunchArg). On CUDA the call returns before the kernel has run; on
    /// the simulator it returns afterwards.
    ///
    /// ```
    /// use tilewright::cuda_std::prelude::*;
    /// use tilewright::{Device, LaunchConfig, ModuleSource};
    ///
    /// /// y = a x + y.
    /// #[kernel]
    /// pub fn saxpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    ///     let i = thread::own_index();
    ///     if let (Some(x), Some(y)) = (x.get(i.get()), y.own(i)) {
    ///         y.set(a.mul_add(x, y.get()));
    ///     }
    /// }
    ///
    /// // SAFETY: (1) there are no images: those of a build script make it run on GPUs, too.
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
    /// [`ErrorKind::LaunchConfig`](crate::ErrorKind::LaunchConfig) if the kernel or the device does not
    /// allow `config`; [`ErrorKind::NotResident`](crate::ErrorKind::NotResident) if a cooperative launch has
    /// too many blocks; [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if an argument is of
    /// another device; [`ErrorKind::KernelDefect`](crate::ErrorKind::KernelDefect) if the simulator finds
    /// a defect; [`ErrorKind::OtherKernel`](crate::ErrorKind::OtherKernel) if the module's entry of the
    /// kernel's name is another kernel; [`ErrorKind::Launch`](crate::ErrorKind::Launch),
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda) or [`ErrorKind::DeviceLost`](crate::ErrorKind::DeviceLost).
    pub fn launch<'launch, K, A>(&self, kernel: K, config: LaunchConfig, arguments: A) -> Result<()>
    where
        K: SafeKernel,
        A: LaunchArgs<K::Params<'launch>>,
    {
        // SAFETY: (1) a safe kernel requires nothing beyond valid parameters.
        unsafe { self.launch_unsafe(kernel, config, arguments) }
    }

    /// Launches any kernel, also one whose source says `unsafe fn`.
    ///
    /// # Safety
    /// 1. The launch meets the requirements in the kernel's documentation: of `config`, and of the
    ///    values in `arguments`.
    ///
    /// # Errors
    /// Those of [`launch`](Self::launch).
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
        // SAFETY: (1) is (1).
        unsafe { self.launch_args(kernel, config, arguments) }.during("launch")
    }

    /// Launches a kernel for a call of any name.
    ///
    /// # Safety
    /// 1. That of [`launch_unsafe`](Self::launch_unsafe).
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
        // SAFETY: (1) is (1). (2) Each view is of a buffer of this device that is borrowed for
        // this call, mutably if the kernel can write it; later work comes later in the device's
        // order.
        unsafe { self.launch_params::<K>(config, params) }
    }

    /// Launches the kernel `K` with parameters that are views already.
    ///
    /// # Safety
    /// 1. The launch meets the requirements in the kernel's documentation: of `config`, and of
    ///    `params`.
    /// 2. Every view is of live memory of this device, and until this call returns no other
    ///    thread submits work that writes what the kernel reads or accesses what it writes.
    pub(crate) unsafe fn launch_params<K: Kernel>(
        &self,
        config: LaunchConfig,
        params: K::Params<'_>,
    ) -> Outcome<()> {
        let entry_params = EntryParams::of(&params);
        // SAFETY: the launch meets the kernel's requirements by (1), and its views are valid by (2): the simulator is
        // done when `launch` returns.
        let body = || unsafe { simulated::<K>(params) };
        let request = LaunchRequest {
            entry: self.entry::<K>(),
            config,
            bounds: K::BOUNDS,
            params: &entry_params,
            views: K::VIEWS,
            body: &body,
        };
        // SAFETY: (1) The module's entry `K::NAME` takes the parameters of `K` by (1) of
        // `ModuleSource::new` and the signature, which the backend compares, and `EntryParams` has
        // them as the entry declares them. (2) `body` is of `K` and the same parameters. (3) is (2)
        // of this method, and work that is submitted later comes later in the device's order. (4)
        // is (1) of this method.
        unsafe { self.submit(&KernelLimits::of::<K>(), &request) }
    }

    /// Launches a kernel, if it and the device allow the launch: what does not depend on the kernel's type.
    ///
    /// # Safety
    /// 1. The requirements of the backend's `launch`, but for what it takes as checked.
    unsafe fn submit(&self, kernel: &KernelLimits, request: &LaunchRequest<'_>) -> Outcome<()> {
        request.config.check(kernel, self.device.properties())?;
        self.check_residency(request)?;
        // SAFETY: (1) to (4) are (1).
        unsafe { self.device.backend().launch(request) }
    }
}

/// What each simulated thread of a launch of `K` runs.
///
/// # Safety
/// 1. The launch meets the requirements in the kernel's documentation.
/// 2. The views in `params` are valid for the launch as [`Kernel::run`] requires, which has ended when the result is
///    dropped.
unsafe fn simulated<K: Kernel>(params: K::Params<'_>) -> simt::Body {
    let params = OfLaunch::of(params);
    // SAFETY: what the closure borrows are views and textures, which live for the launch by (2), and stay with its
    // simulated threads, because they are neither `Send` nor `Sync`. The references that a thread could lend lead to
    // copies, which the closure owns.
    unsafe {
        simt::Body::borrowing(move || {
            // SAFETY: the kernel's own requirements are (1), valid views are (2).
            K::run(params.get());
        })
    }
}

/// The parameters of a launch, which the simulator's host threads copy.
struct OfLaunch<P> {
    params: P,
    /// To which the parameters lead.
    _copies: ParamCopies,
}

impl<P: KernelParams> OfLaunch<P> {
    fn of(params: P) -> Self {
        let mut copies = ParamCopies::default();
        Self {
            params: params.copied_to(&mut copies),
            _copies: copies,
        }
    }

    fn get(&self) -> P {
        self.params
    }
}

// SAFETY: shared access copies the parameters. `LaunchArg` is sealed, so they are scalars, which are
// `Send` and `Sync`, blocks of bytes, which nothing writes, and views and textures: addresses, whose
// accesses answer for races themselves.
// The launch returns when its threads have ended, so each copy is used within the launch, by a thread
// of it.
unsafe impl<P: KernelParams> Sync for OfLaunch<P> {}
// SAFETY: as for `Sync`; the copies are `Send`.
unsafe impl<P: KernelParams> Send for OfLaunch<P> {}

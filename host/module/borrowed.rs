//! Launches of a module's kernels, with arguments already converted to views.

use crate::backend::{Entry, LaunchRequest};
use crate::device::Device;
use crate::error::Outcome;
use crate::kernel_output::Lines;
use crate::launch::{KernelLimits, LaunchConfig};
use crate::module_source::ModuleSource;
use cuda_std::kernel::{EntryParams, Kernel, KernelParams, ParamCopies};

/// A module on a device that is borrowed: cloning a device for each launch would cost more than its checks.
#[derive(Clone, Copy)]
pub struct ModuleRef<'a> {
    pub(super) device: &'a Device,
    pub(super) source: &'static ModuleSource,
}

impl ModuleRef<'_> {
    pub(crate) fn entry<K: Kernel>(&self) -> Entry {
        Entry {
            module: self.source,
            kernel: K::NAME,
            signature: const { &K::SIGNATURE }.as_ref(),
        }
    }

    /// Launches the kernel `K` with arguments already converted to views. Its lines are printed at the end: if it
    /// prints, the caller must hold no lock of the device.
    ///
    /// # Safety
    /// 1. The launch meets the requirements in the kernel's documentation, for `config` and for `params`.
    /// 2. Every view is of live memory of this device. Until this call returns, no other thread submits work that
    ///    writes what the kernel reads or accesses what it writes.
    pub(crate) unsafe fn launch_params<K: Kernel>(
        &self,
        config: LaunchConfig,
        params: K::Params<'_>,
    ) -> Outcome<()> {
        // SAFETY: the caller's contract.
        unsafe { self.launch_printing::<K>(config, params, &Lines::default()) }
    }

    /// [`launch_params`](Self::launch_params), with the kernel's lines in `lines`.
    ///
    /// # Safety
    /// 1. The requirements of [`launch_params`](Self::launch_params).
    pub(crate) unsafe fn launch_printing<K: Kernel>(
        &self,
        config: LaunchConfig,
        params: K::Params<'_>,
        lines: &Lines,
    ) -> Outcome<()> {
        let entry_params = EntryParams::of(&params);
        // SAFETY: the launch meets the kernel's requirements: the caller's contract. Its views are valid for the
        // launch, by the same contract: the simulator is done when `launch` returns.
        let body = || unsafe { simulated::<K>(params) };
        let request = LaunchRequest {
            entry: self.entry::<K>(),
            config,
            bounds: K::BOUNDS,
            params: &entry_params,
            views: K::VIEWS,
            lines,
            body: &body,
        };
        // SAFETY: the entry takes these parameters: by the contract of `ModuleSource::new`, the module's entry
        // `K::NAME` takes those of `K`; the backend compares the signatures, and `EntryParams` has the parameters as
        // the entry declares them. `body` runs the same kernel with the same parameters. The memory is live and no
        // other thread submits conflicting work: the caller's contract; work that is submitted later comes later in
        // the device's order. The launch meets the kernel's requirements: the caller's contract.
        unsafe { self.submit(&KernelLimits::of::<K>(), &request) }
    }

    /// Launches a kernel if the kernel and the device allow the launch: the part that does not depend on the kernel's
    /// type.
    ///
    /// # Safety
    /// 1. The requirements of the backend's `launch`. The configuration and the residency are checked here.
    unsafe fn submit(&self, kernel: &KernelLimits, request: &LaunchRequest<'_>) -> Outcome<()> {
        request.config.check(kernel, self.device.properties())?;
        self.check_residency(request)?;
        // SAFETY: the requirements of the backend's `launch` are the caller's contract; configuration and residency
        // are checked above.
        unsafe { self.device.backend().launch(request) }
    }
}

/// Makes the function that each simulated thread of a launch of `K` runs.
///
/// # Safety
/// 1. The launch meets the requirements in the kernel's documentation.
/// 2. The views in `params` are valid for the launch as [`Kernel::run`] requires. The launch has ended when the
///    result is dropped.
unsafe fn simulated<K: Kernel>(params: K::Params<'_>) -> simt::Body {
    let params = OfLaunch::of(params);
    // SAFETY: the closure borrows views and textures. They live for the launch, by the caller's contract, and stay
    // with its simulated threads, because they are neither `Send` nor `Sync`. The references that a thread could lend
    // lead to copies, which the closure owns.
    unsafe {
        simt::Body::borrowing(move || {
            // SAFETY: the kernel's requirements and valid views are the caller's contract.
            K::run(params.get());
        })
    }
}

/// The parameters of a launch, which the simulator's host threads copy.
struct OfLaunch<P> {
    params: P,
    /// The copies that the parameters point to.
    _copies: ParamCopies,
}

impl<P: KernelParams> OfLaunch<P> {
    fn of(params: P) -> Self {
        let mut copies = ParamCopies::default();
        Self {
            // SAFETY: the copies are kept beside the parameters.
            params: unsafe { params.copied_to(&mut copies) },
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

//! Kernel descriptors: what the host needs to launch a kernel.
//!
//! `#[kernel]` writes the implementations. Programs name a kernel by the type and the function that
//! it leaves on the host, as in `module.launch(kernels::axpy, config, (2.0, &x, &mut y))`.

mod architecture;
mod params;

pub use crate::parameter::{ScalarParam, ValueParam};
pub use architecture::Architecture;
pub use params::{EntryParams, KernelParam, KernelParams, ParamCopies};

/// `#[kernel]` marks loops with it.
#[doc(hidden)]
pub use simt::loop_rounds;

use crate::signature::Signature;

/// A kernel's descriptor on the host, written by [`#[kernel]`](macro@crate::kernel).
///
/// It has the kernel's name in the PTX module, the types of its parameters, and the function that a
/// simulated thread runs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "not a kernel",
    note = "a kernel is a function with the attribute `#[kernel]`; the host names it by the type or function of its name"
)]
pub trait Kernel: Copy + Send + Sync + 'static {
    /// The kernel's parameters as a tuple, in the source's order. Views end with the launch.
    type Params<'launch>: KernelParams;

    /// The name of the entry point in the PTX module.
    const NAME: &'static str;

    /// The kernel's crate, path and parameters, which distinguish it from others of its name.
    ///
    /// A launch on a GPU compares it with the signature beside the entry. `#[kernel]` always writes
    /// one. `None` is for entries that `#[kernel]` did not make, which are not checked.
    const SIGNATURE: Option<Signature> = None;

    /// The launch bounds that the kernel's source states.
    const BOUNDS: LaunchBounds;

    /// The architecture in `#[kernel(arch = "...")]`. Devices that cannot run its code have no
    /// image of the kernel, and reject its launches.
    const ARCH: Option<Architecture> = None;

    /// Names of memory for the simulator's reports, one for each PTX parameter in the order of [`EntryParams`]: the
    /// view's name in the source if the parameter is its address, otherwise empty.
    const VIEWS: &'static [&'static str] = &[];

    /// Runs the kernel's body as the calling simulated thread.
    ///
    /// # Safety
    /// 1. The launch meets the requirements of the kernel's documentation. A safe kernel requires only valid
    ///    parameters.
    /// 2. Every view in `params` is valid for the whole launch, `'launch`. Meanwhile no other launch or host thread
    ///    writes what it reads, or touches what it writes.
    unsafe fn run<'launch>(params: Self::Params<'launch>);
}

/// A kernel's name as a value: the function that `#[kernel]` leaves beside the type.
impl<F, K> Kernel for F
where
    F: Fn() -> K + Copy + Send + Sync + 'static,
    K: Kernel,
{
    type Params<'launch> = K::Params<'launch>;
    const NAME: &'static str = K::NAME;
    const SIGNATURE: Option<Signature> = K::SIGNATURE;
    const BOUNDS: LaunchBounds = K::BOUNDS;
    const ARCH: Option<Architecture> = K::ARCH;
    const VIEWS: &'static [&'static str] = K::VIEWS;

    unsafe fn run<'launch>(params: Self::Params<'launch>) {
        // SAFETY: the caller's contract, which is this method's.
        unsafe { K::run(params) }
    }
}

/// A kernel declared as `fn`, not `unsafe fn`: safe to launch with any valid parameters.
///
/// # Safety
/// 1. If the views are valid, and mutable ones exclusive, no grid and block shape within the bounds
///    causes undefined behaviour.
/// 2. An entry named [`Kernel::NAME`] with [`Kernel::SIGNATURE`] beside it takes
///    [`Kernel::Params`]; without a signature, any entry of that name does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be launched from safe code",
    label = "this kernel's source says `unsafe fn`",
    note = "an `unsafe fn` requires more than valid parameters: read its `# Safety` \
            section, and launch it with `launch_unsafe`"
)]
pub unsafe trait SafeKernel: Kernel {}

// SAFETY: the function names a kernel that meets both requirements.
#[diagnostic::do_not_recommend]
unsafe impl<F, K> SafeKernel for F
where
    F: Fn() -> K + Copy + Send + Sync + 'static,
    K: SafeKernel,
{
}

/// Limits on a kernel's launches; `None` leaves the choice to the compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchBounds {
    /// Maximum threads in a block (`.maxntid`). A launch with more is rejected.
    pub max_threads: Option<u32>,
    /// Minimum resident blocks per multiprocessor (`.minnctapersm`).
    pub min_blocks: Option<u32>,
    /// Maximum registers per thread (`.maxnreg`).
    pub max_registers: Option<u32>,
    /// Whether all blocks of a launch must be resident at once. A launch too large for that is
    /// rejected.
    pub cooperative: bool,
    /// Whether a launch may start while the kernel before it in the stream still runs.
    pub dependent_launch: bool,
    /// Blocks in each cluster, in x, y and z (`.reqnctapercluster`). A launch whose grid is not made of whole
    /// clusters is rejected.
    pub cluster: Option<[u32; 3]>,
}

impl LaunchBounds {
    /// The bounds in `#[kernel(...)]`.
    #[must_use]
    pub const fn new(
        max_threads: Option<u32>,
        min_blocks: Option<u32>,
        max_registers: Option<u32>,
    ) -> Self {
        Self {
            max_threads,
            min_blocks,
            max_registers,
            cooperative: false,
            dependent_launch: false,
            cluster: None,
        }
    }

    /// Sets whether all blocks of a launch must be resident at once.
    #[must_use]
    pub const fn with_cooperative(mut self, cooperative: bool) -> Self {
        self.cooperative = cooperative;
        self
    }

    /// Sets whether a launch may start while the kernel before it still runs.
    #[must_use]
    pub const fn with_dependent_launch(mut self, dependent_launch: bool) -> Self {
        self.dependent_launch = dependent_launch;
        self
    }

    /// Sets the blocks in each cluster, in x, y and z.
    #[must_use]
    pub const fn with_cluster(mut self, blocks: [u32; 3]) -> Self {
        self.cluster = Some(blocks);
        self
    }
}

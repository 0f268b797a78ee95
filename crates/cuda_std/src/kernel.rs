//! What a host program needs to know about a kernel in order to launch it.
//!
//! `#[kernel]` writes the implementations; programs name kernels by the type and the function that
//! it leaves behind on the host, as in `module.launch(kernels::axpy, config, (2.0, &x, &mut y))`.

mod architecture;
mod params;

pub use crate::parameter::{ScalarParam, ValueParam};
pub use architecture::Architecture;
pub use params::{EntryParams, KernelParam, KernelParams, ParamCopies};

/// What `#[kernel]` marks loops with.
#[doc(hidden)]
pub use simt::loop_rounds;

use crate::signature::Signature;

/// A kernel as the host sees it, written by [`#[kernel]`](macro@crate::kernel): its name in the PTX
/// module, the types of its parameters, and the function that one simulated thread runs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "this names no kernel",
    note = "a kernel is a function with the attribute `#[kernel]`; hosts name it by what the \
            attribute leaves in the function's place"
)]
pub trait Kernel: Copy + Send + Sync + 'static {
    /// The kernel's parameters as a tuple, in order, as the kernel's source declares them. Views
    /// end with the launch.
    type Params<'launch>: KernelParams;

    /// The name of the entry point in the PTX module.
    const NAME: &'static str;

    /// What tells the kernel from others of its name: its crate, its path and its parameters. A
    /// launch on a GPU compares it with the signature beside the entry. `#[kernel]` always writes
    /// one; `None` is for entries that no `#[kernel]` has made, which are taken as they are.
    const SIGNATURE: Option<Signature> = None;

    /// What the kernel's source promised about its launches.
    const BOUNDS: LaunchBounds;

    /// The architecture that `#[kernel(arch = "...")]` names: devices that do not run code for it
    /// have no image of the kernel, and refuse its launches.
    const ARCH: Option<Architecture> = None;

    /// For each PTX parameter, in the order of [`EntryParams`], the name of the view whose address it
    /// is, as the source has it, or nothing: reports of the simulator name memory by it.
    const VIEWS: &'static [&'static str] = &[];

    /// Runs the kernel's body as the simulated thread that is calling.
    ///
    /// # Safety
    /// 1. The launch meets the requirements of the kernel's own documentation: a safe kernel requires
    ///    nothing beyond valid parameters.
    /// 2. Every view in `params` is valid for `'launch`, the whole of the launch, and no other
    ///    launch or host thread writes what it reads, or touches what it writes.
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
        // SAFETY: (1) and (2) are those of this method.
        unsafe { K::run(params) }
    }
}

/// A kernel that any launch with valid parameters may run: its source says `fn`, not `unsafe fn`.
///
/// # Safety
/// 1. With views that are valid and exclusive where they are mutable, no grid and no block shape
///    that the bounds allow can cause undefined behaviour.
/// 2. An entry that is called [`Kernel::NAME`] and has [`Kernel::SIGNATURE`] beside it takes
///    [`Kernel::Params`]; without a signature, any entry of that name does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be launched from safe code",
    label = "this kernel's source says `unsafe fn`",
    note = "an `unsafe fn` asks more of its launches than valid parameters: read its `# Safety` \
            section, and launch it with `launch_unsafe`"
)]
pub unsafe trait SafeKernel: Kernel {}

// SAFETY: (1) and (2) are those of the kernel that the function names.
#[diagnostic::do_not_recommend]
unsafe impl<F, K> SafeKernel for F
where
    F: Fn() -> K + Copy + Send + Sync + 'static,
    K: SafeKernel,
{
}

/// Limits that a kernel puts on its launches; `None` leaves a choice to the compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchBounds {
    /// Most threads in a block (`.maxntid`). A launch with more is refused.
    pub max_threads: Option<u32>,
    /// Blocks that are to be resident on one multiprocessor (`.minnctapersm`).
    pub min_blocks: Option<u32>,
    /// Most registers for one thread (`.maxnreg`).
    pub max_registers: Option<u32>,
    /// Whether all blocks of a launch have to be resident at once. A launch that is too large for
    /// that is refused.
    pub cooperative: bool,
    /// Whether a launch may begin while the kernel before it in the stream still runs.
    pub dependent_launch: bool,
    /// Blocks in each cluster, in x, y and z (`.reqnctapercluster`). A launch whose grid is not made
    /// of whole clusters is refused.
    pub cluster: Option<[u32; 3]>,
}

impl LaunchBounds {
    /// The bounds that `#[kernel(...)]` was given.
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

    /// The same bounds for launches whose blocks are resident all at once.
    #[must_use]
    pub const fn with_cooperative(mut self, cooperative: bool) -> Self {
        self.cooperative = cooperative;
        self
    }

    /// The same bounds for launches that may begin while the kernel before them still runs.
    #[must_use]
    pub const fn with_dependent_launch(mut self, dependent_launch: bool) -> Self {
        self.dependent_launch = dependent_launch;
        self
    }

    /// The same bounds for launches in clusters of `blocks`, in x, y and z.
    #[must_use]
    pub const fn with_cluster(mut self, blocks: [u32; 3]) -> Self {
        self.cluster = Some(blocks);
        self
    }
}

//! Modules of a device, their static arrays, and launches.

use crate::error::Outcome;
use crate::kernel_output::Lines;
use crate::launch::LaunchConfig;
use crate::module_source::ModuleSource;
use crate::residency::Residency;
use cuda_std::kernel::{EntryParams, LaunchBounds};
use cuda_std::signature::Signature;

/// Modules, their static arrays, and launches.
///
/// Requirement numbers are those of [`Backend`](super::Backend).
pub(crate) trait DeviceKernels {
    /// Loads a module, unless it was loaded before. Other calls load modules when they need them.
    fn load(&self, source: &'static ModuleSource) -> Outcome<()>;

    /// The compiler's warnings that a module's code is slow, one for each line of its log.
    fn warnings(&self, source: &'static ModuleSource) -> Outcome<Vec<String>>;

    /// Overwrites a static array with `source`, which has the array's length.
    fn write_symbol(&self, symbol: &SymbolRequest, source: &[u8]) -> Outcome<()>;

    /// Copies a static array to `destination`, which has the array's length.
    fn read_symbol(&self, symbol: &SymbolRequest, destination: &mut [u8]) -> Outcome<()>;

    /// The number of a kernel's blocks that are resident at once. The block's shape was checked against the device's
    /// properties.
    fn residency(&self, request: &ResidencyRequest<'_>) -> Outcome<Residency>;

    /// Launches a kernel, cooperatively if its bounds say so. The configuration and the residency were checked.
    ///
    /// # Safety
    /// 1. If the module's entry has the signature of `entry`, it takes exactly `params` as parameters.
    /// 2. `body` makes a function that runs the same kernel, with the same parameters, as one simulated thread.
    /// 3. Requirements 1 and 2 of the trait for all memory that the kernel accesses.
    /// 4. The launch meets the requirements in the kernel's documentation.
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Outcome<()>;
}

/// A static array of a module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SymbolRequest {
    pub(crate) module: &'static ModuleSource,
    /// The name in the PTX.
    pub(crate) name: &'static str,
    pub(crate) initial: &'static [u8],
}

/// A kernel of a module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) module: &'static ModuleSource,
    /// The name in the PTX.
    pub(crate) kernel: &'static str,
    /// The signature that the module must state for its entry; `None` to accept any.
    pub(crate) signature: Option<&'static Signature>,
}

/// A kernel with the shape of its blocks; the grid does not matter.
#[cfg_attr(
    not(feature = "cuda"),
    expect(dead_code, reason = "the simulator needs no module and no name")
)]
pub(crate) struct ResidencyRequest<'a> {
    pub(crate) entry: Entry,
    /// The bounds from the kernel's source.
    pub(crate) bounds: LaunchBounds,
    pub(crate) config: &'a LaunchConfig,
}

/// One launch, with the kernel's parameters in both forms.
pub(crate) struct LaunchRequest<'a> {
    pub(crate) entry: Entry,
    pub(crate) config: LaunchConfig,
    /// The bounds from the kernel's source.
    pub(crate) bounds: LaunchBounds,
    /// The parameters as the PTX entry takes them.
    pub(crate) params: &'a EntryParams<'a>,
    /// For each parameter, the name of the view whose address it is, or an empty string.
    pub(crate) views: &'static [&'static str],
    /// The lines that the kernel prints on the simulator.
    pub(crate) lines: &'a Lines,
    /// The kernel as one simulated thread runs it.
    pub(crate) body: &'a dyn Fn() -> simt::Body,
}

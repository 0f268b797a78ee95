//! Modules of a device, their static arrays, and launches.

use crate::error::Outcome;
use crate::launch::LaunchConfig;
use crate::module_source::ModuleSource;
use crate::residency::Residency;
use cuda_std::kernel::{EntryParams, LaunchBounds};
use cuda_std::signature::Signature;

/// Modules, their static arrays, and launches.
///
/// The requirements of [`Backend`](super::Backend) hold by their numbers.
pub(crate) trait DeviceKernels {
    /// Loads a module, unless it was loaded before. Every other call does so where it needs to.
    fn load(&self, source: &'static ModuleSource) -> Outcome<()>;

    /// The compiler's remarks that the code of a module is slow, one for each line of its log.
    fn warnings(&self, source: &'static ModuleSource) -> Outcome<Vec<String>>;

    /// Overwrites a static array with `source`, which is as long.
    fn write_symbol(&self, symbol: &SymbolRequest, source: &[u8]) -> Outcome<()>;

    /// Copies a static array to `destination`, which is as long.
    fn read_symbol(&self, symbol: &SymbolRequest, destination: &mut [u8]) -> Outcome<()>;

    /// How many blocks of a kernel are resident at once. The shape of its blocks was checked
    /// against the device's properties.
    fn residency(&self, request: &ResidencyRequest<'_>) -> Outcome<Residency>;

    /// Launches a kernel whose configuration was checked against the device's properties: with
    /// all blocks resident at once if its bounds say so, which was checked, too.
    ///
    /// # Safety
    /// 1. The module's entry takes exactly `params` as parameters, if it has the signature of
    ///    `entry`.
    /// 2. `body` makes what runs the same kernel, with the same parameters, as one simulated thread.
    /// 3. Requirements 1 and 2 of the trait for all memory that the kernel touches.
    /// 4. The launch meets the requirements in the kernel's documentation.
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Outcome<()>;
}

/// A static array of a module.
#[cfg_attr(
    not(feature = "cuda"),
    expect(dead_code, reason = "the simulator knows it by its initial values")
)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct SymbolRequest {
    pub(crate) module: &'static ModuleSource,
    /// The name in the PTX.
    pub(crate) name: &'static str,
    pub(crate) initial: &'static [u8],
}

/// A kernel of a module.
#[cfg_attr(
    not(feature = "cuda"),
    expect(dead_code, reason = "the simulator compares no signatures")
)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) module: &'static ModuleSource,
    /// The name in the PTX.
    pub(crate) kernel: &'static str,
    /// What the module must say of its entry, unless the entry is taken as it is.
    pub(crate) signature: Option<Signature>,
}

/// A kernel with the shape of its blocks; the grid does not matter.
#[cfg_attr(
    not(feature = "cuda"),
    expect(dead_code, reason = "the simulator needs no module and no name")
)]
pub(crate) struct ResidencyRequest<'a> {
    pub(crate) entry: Entry,
    /// What the kernel's source promised.
    pub(crate) bounds: LaunchBounds,
    pub(crate) config: &'a LaunchConfig,
}

/// One launch, with the kernel's parameters in both forms.
pub(crate) struct LaunchRequest<'a> {
    pub(crate) entry: Entry,
    pub(crate) config: LaunchConfig,
    /// What the kernel's source promised.
    pub(crate) bounds: LaunchBounds,
    /// The parameters as the PTX entry takes them.
    pub(crate) params: &'a EntryParams<'a>,
    /// For each of them the name of the view whose address it is, or nothing.
    pub(crate) views: &'static [&'static str],
    /// The kernel as one simulated thread runs it.
    pub(crate) body: &'a dyn Fn() -> simt::Body,
}

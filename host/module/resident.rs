//! The number of blocks of a module's kernel that are resident at once.

use super::{Module, ModuleRef};
use crate::backend::{Entry, LaunchRequest, ResidencyRequest};
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::launch::{KernelLimits, LaunchConfig};
use crate::residency::Residency;
use cuda_std::kernel::{Kernel, LaunchBounds};
use simt::Dim3;

impl Module {
    /// The number of blocks of `kernel` that this device holds at once; 0 if not even one fits.
    ///
    /// It is the largest grid of a `#[kernel(cooperative)]`. The blocks have `block` threads and
    /// `dynamic_shared_bytes` bytes of dynamic shared memory.
    ///
    /// On CUDA, the driver answers for the compiled kernel. The simulator has no compiled kernel: it assumes as many
    /// registers for each thread as the kernel's bounds allow, and no static shared memory. So a bound `min_blocks`
    /// raises the number.
    ///
    /// ```
    /// use cuda_std::cooperative_groups::{Group as _, GridGroup};
    /// use cuda_std::prelude::*;
    /// use tilewright::{Device, LaunchConfig, ModuleSource};
    ///
    /// /// Waits for all blocks.
    /// #[kernel(cooperative, max_threads = 256, min_blocks = 2)]
    /// pub fn meet(grid: GridGroup) {
    ///     grid.sync();
    /// }
    /// // SAFETY: there are no images that could differ from the kernel.
    /// static KERNELS: ModuleSource = unsafe { ModuleSource::new("meet", &[]) };
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let module = device.load(&KERNELS)?;
    /// let blocks = module.max_resident_blocks(meet, 256, 0)?;
    /// assert_eq!(blocks, 2 * device.properties().multiprocessors);
    /// module.launch(meet, LaunchConfig::new(blocks, 256), ())?;
    /// assert!(module.launch(meet, LaunchConfig::new(blocks + 1, 256), ()).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::LaunchConfig`] if the kernel or the device does not allow such blocks; [`ErrorKind::Launch`], and
    /// those of [`Device::load`](crate::Device::load).
    pub fn max_resident_blocks<K: Kernel>(
        &self,
        _kernel: K,
        block: impl Into<Dim3>,
        dynamic_shared_bytes: u32,
    ) -> Result<u32> {
        let config = LaunchConfig::new(1, block).with_dynamic_shared(dynamic_shared_bytes);
        let module = self.by_ref();
        config
            .check(&KernelLimits::of::<K>(), self.device().properties())
            .and_then(|()| module.residency(module.entry::<K>(), K::BOUNDS, &config))
            .map(|residency| residency.blocks)
            .during("max_resident_blocks")
    }
}

impl ModuleRef<'_> {
    fn residency(
        &self,
        entry: Entry,
        bounds: LaunchBounds,
        config: &LaunchConfig,
    ) -> Outcome<Residency> {
        let request = ResidencyRequest {
            entry,
            bounds,
            config,
        };
        self.device.backend().residency(&request)
    }

    /// Fails if the launch is cooperative and not all its blocks can be resident at once.
    pub(super) fn check_residency(&self, request: &LaunchRequest<'_>) -> Outcome<()> {
        if !request.bounds.cooperative {
            return Ok(());
        }
        let config = &request.config;
        let residency = self.residency(request.entry, request.bounds, config)?;
        let blocks = config.grid.count();
        if blocks <= u64::from(residency.blocks) {
            return Ok(());
        }
        Err(ErrorKind::NotResident {
            kernel: request.entry.kernel,
            device: self.device.label(),
            blocks,
            block: config.block,
            dynamic_shared_bytes: config.dynamic_shared_bytes,
            resident: residency.blocks,
            reason: residency.reason,
        })
    }
}

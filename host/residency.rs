//! How many blocks of a kernel a device holds at once: what bounds cooperative launches.

use crate::backend::Entry;
use crate::error::{Error, Result};
use crate::launch::LaunchConfig;
use crate::module::Module;
use cuda_std::kernel::{Kernel, LaunchBounds};
use simt::occupancy::{BlockResources, Limits};
use simt::{Dim3, MAX_RESIDENT_THREADS};

/// How many blocks are resident at once, and what keeps it from more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Residency {
    pub(crate) blocks: u32,
    /// As in "2 on each of 132 multiprocessors, limited by registers".
    pub(crate) reason: String,
}

impl Residency {
    /// `per_multiprocessor` blocks on each of so many.
    pub(crate) fn on_each(per_multiprocessor: u32, multiprocessors: u32, limiter: &str) -> Self {
        Self {
            blocks: per_multiprocessor.saturating_mul(multiprocessors),
            reason: format!(
                "{per_multiprocessor} on each of {multiprocessors} multiprocessors, limited by \
                 {limiter}"
            ),
        }
    }

    /// What a simulated device of `limits` holds: blocks whose threads have `registers`, but no
    /// more of them than are simulated at once.
    pub(crate) fn simulated(
        limits: &Limits,
        multiprocessors: u32,
        registers: u32,
        config: &LaunchConfig,
    ) -> Self {
        let threads = block_threads(config.block);
        let occupancy = limits.occupancy(&BlockResources {
            threads,
            registers_per_thread: registers,
            shared_bytes: config.dynamic_shared_bytes,
        });
        let on_device = Self::on_each(
            occupancy.blocks,
            multiprocessors,
            &occupancy.limiter.to_string(),
        );
        let simulated = MAX_RESIDENT_THREADS / threads;
        if simulated >= on_device.blocks {
            return on_device;
        }
        Self {
            blocks: simulated,
            reason: format!("{MAX_RESIDENT_THREADS} threads are simulated at once"),
        }
    }
}

/// Threads of a block that was checked against a device's limits.
pub(crate) fn block_threads(block: Dim3) -> u32 {
    u32::try_from(block.count()).unwrap_or(u32::MAX).max(1)
}

impl Module {
    /// How many blocks of `kernel` with `block` threads and `dynamic_shared_bytes` bytes of dynamic
    /// shared memory this device holds at once: the most that a launch of a
    /// `#[kernel(cooperative)]` can have. 0 where not even one fits.
    ///
    /// On CUDA the driver answers, for the compiled kernel. The simulator has no compiled kernel:
    /// it takes the threads to have as many registers as the kernel's bounds leave them, and does
    /// not know of static shared memory. A bound `min_blocks` is what makes it many.
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
    /// // SAFETY: (1) there are no images.
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
    /// [`Error::LaunchConfig`] if the kernel or the device does not allow such blocks;
    /// [`Error::Launch`], [`Error::Cuda`] or [`Error::DeviceLost`].
    pub fn max_resident_blocks<K: Kernel>(
        &self,
        kernel: K,
        block: impl Into<Dim3>,
        dynamic_shared_bytes: u32,
    ) -> Result<u32> {
        let config = LaunchConfig::new(1, block).with_dynamic_shared(dynamic_shared_bytes);
        config.check::<K>(self.device().properties())?;
        Ok(self.residency(kernel, &config)?.blocks)
    }

    fn residency<K: Kernel>(&self, _kernel: K, config: &LaunchConfig) -> Result<Residency> {
        let request = ResidencyRequest {
            entry: self.entry::<K>(),
            bounds: K::BOUNDS,
            config,
        };
        self.device().backend().residency(&request)
    }

    /// Fails if not all blocks of a launch that needs it can be resident at once.
    pub(crate) fn check_residency<K: Kernel>(
        &self,
        kernel: K,
        config: &LaunchConfig,
    ) -> Result<()> {
        if !K::BOUNDS.cooperative {
            return Ok(());
        }
        let residency = self.residency(kernel, config)?;
        let blocks = config.grid.count();
        if blocks <= u64::from(residency.blocks) {
            return Ok(());
        }
        Err(Error::NotResident {
            kernel: K::NAME,
            device: self.device().name().to_owned(),
            blocks,
            block: config.block,
            dynamic_shared_bytes: config.dynamic_shared_bytes,
            resident: residency.blocks,
            reason: residency.reason,
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use simt::Profile;

    #[test]
    fn a_simulated_device_holds_what_its_profile_does_and_no_more_than_is_simulated() {
        let limits = Profile::A100.datasheet().limits;
        let config = LaunchConfig::new(1, 128);
        let few = Residency::simulated(&limits, 8, 128, &config);
        assert_eq!(few.blocks, 4 * 8);
        assert!(few.reason.ends_with("limited by registers"), "{few:?}");
        let many = Residency::simulated(&limits, 108, 32, &config);
        assert_eq!(many.blocks, MAX_RESIDENT_THREADS / 128);
        let config = config.with_dynamic_shared(160 << 10);
        let one = Residency::simulated(&limits, 8, 128, &config);
        assert_eq!(one.blocks, 8);
        assert!(one.reason.ends_with("limited by shared memory"), "{one:?}");
    }
}

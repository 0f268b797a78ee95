//! What the selection depends on of a device.

use crate::error::CudaVersion;
use cuda_std::kernel::Architecture;

/// What the selection depends on of a device.
#[derive(Clone, Copy, Debug)]
pub struct DeviceFacts {
    pub multiprocessors: u32,
    /// `None` on a simulator that stands for no NVIDIA device: it runs every kernel.
    pub compute_capability: Option<(u32, u32)>,
    /// Kernels that do not run on this compute capability, either, are left out.
    pub limit: Option<(u32, u32)>,
    /// The newest CUDA version that the driver supports; `None` on a simulator, which needs no driver.
    pub driver: Option<CudaVersion>,
    pub warp_threads: u32,
}

impl DeviceFacts {
    /// Whether the device runs code for `architecture`, if one is stated, and its driver reads it, which is to be at
    /// least as new as `driver`.
    pub fn runs(self, architecture: Option<Architecture>, driver: Option<CudaVersion>) -> bool {
        let mut capabilities = self.capabilities();
        architecture.is_none_or(|it| capabilities.all(|capability| it.runs_on(capability)))
            && driver.is_none_or(|oldest| self.driver.is_none_or(|it| it >= oldest))
    }

    /// Whether its warps multiply halves more than three times as fast as f32, so that products of f32 in halves
    /// gain: they take three products each.
    ///
    /// By NVIDIA's white papers dense f16 with sums in f32 is 16 times as fast on an A100 (312 and 19.5 TFLOP/s), 2
    /// times on GeForce RTX 3090 and 4090 (71 and 35.6; 165 and 82.6), 4 times on an A10 (125 and 31.2).
    pub(super) fn has_fast_halves(self) -> bool {
        const OF_DATA_CENTERS: [(u32, u32); 4] = [(8, 0), (9, 0), (10, 0), (10, 3)];
        let lowest = self.capabilities().min();
        lowest.is_none_or(|it| OF_DATA_CENTERS.contains(&it))
    }

    /// Those that a kernel has to run on.
    fn capabilities(self) -> impl Iterator<Item = (u32, u32)> {
        [self.compute_capability, self.limit].into_iter().flatten()
    }

    /// The device without the kernels that one of compute capability `capability` does not run, where its own
    /// is not lower.
    pub(super) fn at_most(self, capability: (u32, u32)) -> Self {
        /// That of the newest kernels, all of which a simulator of no device runs.
        const NEWEST: (u32, u32) = (9, 0);
        let own = self.compute_capability.unwrap_or(NEWEST);
        // No minor number has two digits.
        let (major, minor) = own.min(capability);
        Self {
            limit: Some((major, minor.min(9))),
            ..self
        }
    }
}

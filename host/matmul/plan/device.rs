//! A device as a value: the facts that the selection depends on.

use crate::error::CudaVersion;
use crate::matmul::kernel::GemmKernel;
use cuda_std::kernel::Architecture;

/// The facts about a device that the selection depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    pub multiprocessors: u32,
    /// `None` for a simulator that stands for no NVIDIA device: it runs every kernel.
    pub compute_capability: Option<(u32, u32)>,
    /// Only kernels that also run on this compute capability are used.
    pub limit: Option<(u32, u32)>,
    /// The newest CUDA version that the driver supports; `None` for a simulator, which needs no driver.
    pub driver: Option<CudaVersion>,
    pub warp_threads: u32,
}

impl DeviceFacts {
    /// Whether the device runs the kernel.
    pub fn has(self, kernel: &GemmKernel) -> bool {
        self.runs(Some(kernel.architecture), kernel.driver)
            // Tensor cores need the warps of NVIDIA's GPUs.
            && (self.warp_threads == 32 || kernel.method.has_any_warps())
    }

    /// Whether the device runs code for `architecture`, if one is stated, and its driver, which must be at least as
    /// new as `driver`, reads it.
    pub fn runs(self, architecture: Option<Architecture>, driver: Option<CudaVersion>) -> bool {
        let mut capabilities = self.capabilities();
        architecture.is_none_or(|it| capabilities.all(|capability| it.runs_on(capability)))
            && driver.is_none_or(|oldest| self.driver.is_none_or(|it| it >= oldest))
    }

    /// [`runs`](Self::runs), whatever the limit.
    pub fn newest_runs(
        self,
        architecture: Option<Architecture>,
        driver: Option<CudaVersion>,
    ) -> bool {
        let device = Self {
            limit: None,
            ..self
        };
        device.runs(architecture, driver)
    }

    /// Whether its warps multiply f16 more than three times as fast as f32. Only then are split products faster, since
    /// each takes three.
    ///
    /// By NVIDIA's white papers, dense f16 with sums in f32 is 16 times as fast on an A100 (312 and 19.5 TFLOP/s),
    /// 2 times on GeForce RTX 3090 and 4090 (71 and 35.6; 165 and 82.6), and 4 times on an A10 (125 and 31.2).
    pub fn has_fast_halves(self) -> bool {
        const OF_DATA_CENTERS: [(u32, u32); 4] = [(8, 0), (9, 0), (10, 0), (10, 3)];
        let lowest = self.capabilities().min();
        lowest.is_none_or(|it| OF_DATA_CENTERS.contains(&it))
    }

    /// The compute capabilities that a kernel has to run on.
    fn capabilities(self) -> impl Iterator<Item = (u32, u32)> {
        [self.compute_capability, self.limit].into_iter().flatten()
    }

    /// The device without the kernels that compute capability `capability` cannot run, if its own is not lower.
    pub fn at_most(self, capability: (u32, u32)) -> Self {
        /// The compute capability of the newest kernels; a simulator of no device runs them all.
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

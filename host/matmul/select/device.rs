//! What the selection depends on of a device.

use crate::error::CudaVersion;

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

//! Properties and limits of a device.

use crate::error::CudaVersion;
use simt::Dim3;

/// A device's properties and limits, read once when it was opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceProperties {
    /// The device's name, from the driver.
    pub name: String,
    /// Major and minor number of the compute capability; `None` on a simulator that does not stand for an NVIDIA
    /// device.
    pub compute_capability: Option<(u32, u32)>,
    /// The newest CUDA version that the driver supports; `None` on the simulator.
    pub driver: Option<CudaVersion>,
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// Threads in a warp.
    pub warp_threads: u32,
    /// Maximum number of threads in a block.
    pub max_block_threads: u32,
    /// Maximum number of threads in each dimension of a block.
    pub max_block: Dim3,
    /// Maximum number of blocks in each dimension of a grid.
    pub max_grid: Dim3,
    /// Maximum number of threads resident on a multiprocessor.
    pub max_multiprocessor_threads: u32,
    /// Bytes of shared memory that every block may use.
    pub shared_bytes_per_block: u32,
    /// Maximum bytes of shared memory of a block, as dynamic shared memory.
    pub max_shared_bytes_per_block: u32,
    /// Size of the L2 cache in bytes.
    pub l2_cache_bytes: u64,
    /// Size of device memory in bytes.
    pub memory_bytes: u64,
}

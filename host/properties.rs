//! What a device is, and its limits.

use crate::error::CudaVersion;
use simt::Dim3;

/// What a device is and how much it allows, read once when it was opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceProperties {
    /// The name that the driver gives the device.
    pub name: String,
    /// Major and minor number of the compute capability; `None` on a simulator that stands for no
    /// NVIDIA device.
    pub compute_capability: Option<(u32, u32)>,
    /// The newest CUDA version that the driver supports; `None` on the simulator.
    pub driver: Option<CudaVersion>,
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// Threads in a warp.
    pub warp_threads: u32,
    /// Most threads in a block.
    pub max_block_threads: u32,
    /// Most threads in each dimension of a block.
    pub max_block: Dim3,
    /// Most blocks in each dimension of a grid.
    pub max_grid: Dim3,
    /// Most threads that a multiprocessor holds at once.
    pub max_multiprocessor_threads: u32,
    /// Bytes of shared memory that every block may use.
    pub shared_bytes_per_block: u32,
    /// Bytes of shared memory that a block may use at most, as dynamic shared memory.
    pub max_shared_bytes_per_block: u32,
    /// Bytes of the second-level cache.
    pub l2_cache_bytes: u64,
    /// Bytes of device memory.
    pub memory_bytes: u64,
}

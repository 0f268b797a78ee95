//! Launch configurations, and their checks.

use crate::error::{ErrorKind, Outcome, counted};
use crate::properties::DeviceProperties;
use cuda_std::kernel::{Architecture, Kernel, LaunchBounds};
use simt::Dim3;

/// The grid and the blocks of a launch, and the dynamic shared memory of each block.
///
/// The launch refuses sizes that the device or the kernel does not allow.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LaunchConfig {
    /// Blocks in the grid.
    pub grid: Dim3,
    /// Threads in each block.
    pub block: Dim3,
    /// Bytes of dynamic shared memory for each block.
    pub dynamic_shared_bytes: u32,
}

/// The largest grid along x and along y, in blocks (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
pub(crate) const MAX_GRID_X: usize = i32::MAX as usize;
pub(crate) const MAX_GRID_Y: u32 = 65535;

/// `blocks` along x, if a grid can have that many. `None` means that the number overflowed. `what` names the call that
/// needs them.
pub(crate) fn grid_x(
    blocks: impl Into<Option<usize>>,
    what: impl FnOnce() -> String,
) -> Outcome<u32> {
    let blocks = blocks.into().filter(|blocks| *blocks <= MAX_GRID_X);
    let blocks = blocks.map(|blocks| blocks as u32);
    blocks.ok_or_else(|| ErrorKind::TooLarge {
        what: what(),
        remedy: "a grid can have at most 2^31 - 1 blocks; divide the work over several calls",
    })
}

impl LaunchConfig {
    /// A grid of `grid` blocks of `block` threads, without dynamic shared memory.
    ///
    /// ```
    /// use tilewright::LaunchConfig;
    ///
    /// let config = LaunchConfig::new((4, 2), 256);
    /// assert_eq!((config.grid.x, config.grid.y, config.grid.z), (4, 2, 1));
    /// ```
    #[must_use]
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self {
            grid: grid.into(),
            block: block.into(),
            dynamic_shared_bytes: 0,
        }
    }

    /// A grid of one-dimensional blocks of `block_threads`, with at least one thread for each element.
    ///
    /// It has at least one block, even for no elements. The launch refuses more blocks than a grid can have.
    ///
    /// ```
    /// use tilewright::LaunchConfig;
    ///
    /// let config = LaunchConfig::for_elements(1000, 256);
    /// assert_eq!((config.grid.x, config.block.x), (4, 256));
    /// ```
    #[must_use]
    pub fn for_elements(elements: usize, block_threads: u32) -> Self {
        let blocks = elements.div_ceil(block_threads.max(1) as usize).max(1);
        Self::new(u32::try_from(blocks).unwrap_or(u32::MAX), block_threads)
    }

    /// A grid of two-dimensional blocks, with a thread for each element of a matrix.
    ///
    /// The matrix has `rows` rows and `cols` columns, and each block `width` x `height` threads along x and y. The
    /// thread of an element has its column as x and its row as y, as [`unique_index_2d`](cuda_std::thread::unique_index_2d)
    /// counts them.
    ///
    /// It has at least one block, even for no elements. A grid has at most 65535 blocks along y; further rows
    /// continue along z.
    ///
    /// ```
    /// use tilewright::LaunchConfig;
    ///
    /// let config = LaunchConfig::for_matrix((100, 70), (32, 8));
    /// assert_eq!((config.grid.x, config.grid.y, config.grid.z), (3, 13, 1));
    /// let tall = LaunchConfig::for_matrix((1_000_000, 1), (32, 8));
    /// assert_eq!((tall.grid.x, tall.grid.y, tall.grid.z), (1, 62_500, 2));
    /// ```
    #[must_use]
    pub fn for_matrix((rows, cols): (usize, usize), (width, height): (u32, u32)) -> Self {
        let blocks = |elements: usize, threads: u32| {
            let blocks = elements.div_ceil(threads.max(1) as usize).max(1);
            u32::try_from(blocks).unwrap_or(u32::MAX)
        };
        let along_y = blocks(rows, height);
        let layers = along_y.div_ceil(MAX_GRID_Y);
        let grid = (blocks(cols, width), along_y.div_ceil(layers), layers);
        Self::new(grid, (width, height))
    }

    /// Sets the bytes of dynamic shared memory for each block.
    #[must_use]
    pub fn with_dynamic_shared(mut self, bytes: u32) -> Self {
        self.dynamic_shared_bytes = bytes;
        self
    }

    /// Checks the launch against what the kernel and the device allow.
    pub(crate) fn check(
        &self,
        kernel: &KernelLimits,
        properties: &DeviceProperties,
    ) -> Outcome<()> {
        check_architecture(kernel.architecture, properties)
            .and_then(|()| self.check_limits(&kernel.bounds, properties))
            .map_err(|reason| ErrorKind::LaunchConfig {
                kernel: kernel.name,
                reason,
            })
    }

    fn check_limits(
        &self,
        bounds: &LaunchBounds,
        properties: &DeviceProperties,
    ) -> Result<(), String> {
        check_extent("grid", "blocks", self.grid, properties.max_grid)?;
        check_extent("block", "threads", self.block, properties.max_block)?;
        let threads = volume(self.block);
        check_block("device", threads, properties.max_block_threads)?;
        check_block("kernel", threads, bounds.max_threads.unwrap_or(u32::MAX))?;
        check_threads(volume(self.grid), threads)?;
        if let Some(cluster) = bounds.cluster {
            check_clusters(self.grid, cluster)?;
        }
        check_shared(
            self.dynamic_shared_bytes,
            properties.max_shared_bytes_per_block,
        )
    }
}

/// A kernel's limits for its launches, from its source.
pub(crate) struct KernelLimits {
    pub(crate) name: &'static str,
    /// The architecture that the kernel is compiled for, if it states one.
    pub(crate) architecture: Option<Architecture>,
    pub(crate) bounds: LaunchBounds,
}

impl KernelLimits {
    /// Those of the kernel `K`.
    pub(crate) const fn of<K: Kernel>() -> Self {
        Self {
            name: K::NAME,
            architecture: K::ARCH,
            bounds: K::BOUNDS,
        }
    }
}

/// Fails unless each dimension is between 1 and its limit.
fn check_extent(what: &str, unit: &str, extent: Dim3, limit: Dim3) -> Result<(), String> {
    let dimensions = [
        ("x", extent.x, limit.x),
        ("y", extent.y, limit.y),
        ("z", extent.z, limit.z),
    ];
    for (dimension, extent, limit) in dimensions {
        if extent == 0 || extent > limit {
            return Err(format!(
                "its {what} has {} in dimension {dimension}; from 1 to {limit} are allowed",
                counted(extent, unit.trim_end_matches('s'), unit)
            ));
        }
    }
    Ok(())
}

/// The number of elements of an extent. The product of three 32-bit factors fits into 128 bits.
fn volume(extent: Dim3) -> u128 {
    u128::from(extent.x) * u128::from(extent.y) * u128::from(extent.z)
}

fn check_block(whose: &str, threads: u128, limit: u32) -> Result<(), String> {
    if threads <= u128::from(limit) {
        return Ok(());
    }
    Err(format!(
        "its block has {threads} threads; the {whose} allows at most {limit}"
    ))
}

/// Fails if the threads cannot be counted in 64 bits, which kernels use for threads and ranks.
fn check_threads(blocks: u128, threads: u128) -> Result<(), String> {
    if blocks * threads <= u128::from(u64::MAX) {
        return Ok(());
    }
    Err(format!(
        "its {blocks} blocks of {threads} threads have more threads than 64 bits count"
    ))
}

/// Fails if the device's architecture cannot run the kernel. A simulator that does not stand for a GPU has no compute
/// capability, and runs all kernels.
fn check_architecture(
    needed: Option<Architecture>,
    properties: &DeviceProperties,
) -> Result<(), String> {
    let (Some(needed), Some((major, minor))) = (needed, properties.compute_capability) else {
        return Ok(());
    };
    if needed.runs_on((major, minor)) {
        return Ok(());
    }
    Err(format!(
        "it is compiled for {needed}, and this device has compute capability {major}.{minor}"
    ))
}

fn check_clusters(grid: Dim3, cluster: [u32; 3]) -> Result<(), String> {
    let blocks = [("x", grid.x), ("y", grid.y), ("z", grid.z)];
    for ((dimension, blocks), cluster) in blocks.into_iter().zip(cluster) {
        if !blocks.is_multiple_of(cluster) {
            return Err(format!(
                "its grid has {} in dimension {dimension}, and the kernel's clusters need a multiple of {cluster}",
                counted(blocks, "block", "blocks")
            ));
        }
    }
    Ok(())
}

fn check_shared(bytes: u32, limit: u32) -> Result<(), String> {
    if bytes <= limit {
        return Ok(());
    }
    Err(format!(
        "it asks for {bytes} bytes of dynamic shared memory, and a block of this device has at most {limit}"
    ))
}

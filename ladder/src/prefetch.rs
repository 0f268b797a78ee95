//! The ladder of the prefetch, after NVIDIA's article "Boosting Application Performance with GPU
//! Memory Prefetching".

mod prepared;
mod variant;

use prepared::Launch;
use std::ops::RangeInclusive;
use tilewright::{Buffer, Device, ErrorKind, Result};
use tilewright_ladder_kernels::prefetch as kernels;

pub use variant::{Layout, Variant};

/// The name of the operation in errors.
const OPERATION: &str = "ladder::prefetch";

/// The most threads of a block that the kernels can be launched with.
pub const MAX_BLOCK_THREADS: u32 = kernels::MAX_BLOCK_THREADS;

/// The distances of the variants that prefetch.
pub const DISTANCES: RangeInclusive<u32> = 1..=kernels::MAX_DISTANCE;

/// How much work there is for each element, and the threads that do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Generations of Ricker's model for each element, each with an exponential function.
    pub generations: u32,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block, at most [`MAX_BLOCK_THREADS`].
    pub block_threads: u32,
    /// Whether the threads of a block synchronise at a barrier in each round.
    pub meets: bool,
}

impl Workload {
    /// Threads of the grid, each of which leaves a sum.
    #[must_use]
    pub const fn threads(self) -> usize {
        self.blocks as usize * self.block_threads as usize
    }

    /// The sums that a launch leaves, bit for bit, computed one element after the other.
    #[must_use]
    pub fn sums(self, x: &[f64]) -> Vec<f64> {
        let threads = self.threads();
        let mut sums = vec![0.0; threads];
        for (index, &element) in x.iter().enumerate() {
            sums[index % threads] += kernels::generations(element, self.generations);
        }
        sums
    }
}

/// Each thread's sum of what becomes of its elements of `x`: element i belongs to thread i modulo
/// [`Workload::threads`]. The launch is not waited for.
///
/// ```
/// use tilewright::Device;
/// use tilewright_ladder::prefetch::{self, Variant, Workload};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let workload = Workload { generations: 1, blocks: 2, block_threads: 64, meets: true };
/// let elements: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
/// let x = device.upload(&elements)?;
/// let mut sums = device.zeros(workload.threads())?;
/// prefetch::launch(&device, Variant::ScalarRolling, 4, workload, &x, &mut sums)?;
/// assert_eq!(sums.to_vec()?, workload.sums(&elements));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ErrorKind::WrongLength`] if `sums` does not have an element for each of [`Workload::threads`];
/// [`ErrorKind::LaunchConfig`] if the variant has no such distance, or the device or the kernel does
/// not allow the workload's blocks; [`ErrorKind::TooLarge`] if a thread would have more than 2^31
/// elements; [`ErrorKind::WrongDevice`] if a buffer is of another device; and those of launches.
pub fn launch(
    device: &Device,
    variant: Variant,
    distance: u32,
    workload: Workload,
    x: &Buffer<f64>,
    sums: &mut Buffer<f64>,
) -> Result<()> {
    if sums.len() != workload.threads() {
        return Err(ErrorKind::WrongLength {
            expected: workload.threads(),
            found: sums.len(),
        }
        .during(OPERATION));
    }
    if !variant.distances().contains(&distance) {
        return Err(ErrorKind::LaunchConfig {
            kernel: variant.info().kernel,
            reason: format!(
                "there is none for distance {distance}; there is for {:?}",
                variant.distances()
            ),
        }
        .during(OPERATION));
    }
    if x.is_empty() {
        *sums = device.zeros(sums.len())?;
        return Ok(());
    }
    let launch = Launch::new(device, variant, distance, workload, x.len())?;
    launch.run(variant, x, sums)
}

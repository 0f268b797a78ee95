//! The amount of work, and the threads that do it.

use std::ops::RangeInclusive;
use tilewright_ladder_kernels::prefetch as kernels;

/// The name of the operation in errors.
pub(super) const OPERATION: &str = "ladder::prefetch";

/// Maximum threads per block.
pub const MAX_BLOCK_THREADS: u32 = kernels::MAX_BLOCK_THREADS;

/// The distances of the variants that prefetch.
pub const DISTANCES: RangeInclusive<u32> = 1..=kernels::MAX_DISTANCE;

/// The work per element, and the threads that do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Generations of Ricker's model for each element, each with an exponential function.
    pub generations: u32,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads per block, at most [`MAX_BLOCK_THREADS`].
    pub block_threads: u32,
    /// Whether the threads of a block synchronise at a barrier in each round.
    pub is_synced: bool,
}

impl Workload {
    /// Threads of the grid, each of which leaves a sum.
    #[must_use]
    pub const fn threads(self) -> usize {
        self.blocks as usize * self.block_threads as usize
    }

    /// The sums of a launch, bit for bit, computed sequentially.
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

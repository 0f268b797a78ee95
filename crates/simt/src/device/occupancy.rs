//! Occupancy: how many blocks a multiprocessor holds at once, and the resource that limits them.
//!
//! Three functions correspond to those of the CUDA runtime: the number of blocks that fit, the block size with which
//! the most threads fit, and that block size if shared memory grows with the block. They follow NVIDIA's occupancy
//! calculator. The limits are from the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability",
//! and CCCL's `cuda/__device/arch_traits.h`; allocation granularities are from `cuda_occupancy.h` in CUDA 13.
//!
//! Results agree with that header for all 17,920 tested combinations of registers, threads and shared memory for each
//! compute capability, and with `cudaOccupancyMaxActiveBlocksPerMultiprocessor` on an H200 for all 5,880 tested there;
//! some of these are in `tests/measured/occupancy_h200.txt`.
//!
//! The host library re-exports this module as `tilewright::occupancy`.
//!
//! ```
//! use simt::occupancy::{BlockResources, Limiter, Limits};
//!
//! let h200 = Limits::of_compute_capability(9, 0).unwrap();
//! let block = BlockResources { threads: 256, registers_per_thread: 64, shared_bytes: 0 };
//! let occupancy = h200.occupancy(&block);
//! // Four blocks of eight warps take all 65,536 registers, with half of the most warps.
//! assert_eq!((occupancy.blocks, occupancy.limiter), (4, Limiter::Registers));
//! assert_eq!(occupancy.fraction(), 0.5);
//! // With half of the registers all warps fit.
//! let lighter = BlockResources { registers_per_thread: 32, ..block };
//! assert_eq!(h200.occupancy(&lighter).fraction(), 1.0);
//! ```
//!
//! The best block size for a kernel with 40 registers and 16 bytes of shared memory per thread:
//!
//! ```
//! use simt::occupancy::{BlockResources, Limits};
//!
//! let limits = Limits::of_compute_capability(8, 6).expect("it is known");
//! let of_1024 = limits.occupancy(&BlockResources {
//!     threads: 1024,
//!     registers_per_thread: 40,
//!     shared_bytes: 16 << 10,
//! });
//! assert_eq!(of_1024.to_string(), "67 %: 1 blocks with 32 of 48 warps, limited by warps");
//! let best = limits.best_block_size_with(40, |threads| 16 * threads, 1024).expect("some block fits");
//! assert_eq!((best.threads, best.occupancy.blocks), (768, 2));
//! assert_eq!(limits.best_block_size(40, 16 << 10, 1024), Some(best));
//! ```

use crate::basics::named;
use std::fmt;

/// Resources of a multiprocessor, and the granularity of their allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Lanes of a warp.
    pub warp_lanes: u32,
    /// The most warps at once.
    pub warps: u32,
    /// The most blocks at once.
    pub blocks: u32,
    /// The most threads of a block.
    pub threads_per_block: u32,
    /// Registers of 32 bits.
    pub registers: u32,
    /// The most registers of a thread.
    pub registers_per_thread: u32,
    /// Granularity of register allocation to a warp.
    pub register_unit: u32,
    /// Partitions, each with a register file and a scheduler.
    pub partitions: u32,
    /// Shared memory, in bytes.
    pub shared_bytes: u32,
    /// The most shared memory of a block, in bytes.
    pub shared_bytes_per_block: u32,
    /// Granularity of shared memory allocation to a block, in bytes.
    pub shared_unit: u32,
    /// Shared memory that the system reserves for each block, in bytes.
    pub shared_reserved: u32,
}

const KIB: u32 = 1024;

impl Limits {
    /// The limits of a compute capability: 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0 or 12.0; none for others.
    #[must_use]
    pub const fn of_compute_capability(major: u32, minor: u32) -> Option<Self> {
        // Warps, blocks, KiB of shared memory.
        Some(match (major, minor) {
            (7, 5) => Self {
                shared_bytes_per_block: 64 * KIB,
                shared_unit: 256,
                shared_reserved: 0,
                ..Self::nvidia(32, 16, 64)
            },
            (8, 0) => Self::nvidia(64, 32, 164),
            (8, 6) => Self::nvidia(48, 16, 100),
            (8, 7) => Self::nvidia(48, 16, 164),
            (8, 9) => Self::nvidia(48, 24, 100),
            (9, 0) | (10, 0) => Self::nvidia(64, 32, 228),
            (12, 0) => Self::nvidia(48, 24, 100),
            _ => return None,
        })
    }

    /// Common properties of the compute capabilities from 8.0 on.
    const fn nvidia(warps: u32, blocks: u32, shared_kib: u32) -> Self {
        Self {
            warp_lanes: 32,
            warps,
            blocks,
            threads_per_block: 1024,
            registers: 64 * KIB,
            registers_per_thread: 255,
            register_unit: 256,
            partitions: 4,
            shared_bytes: shared_kib * KIB,
            shared_bytes_per_block: (shared_kib - 1) * KIB,
            shared_unit: 128,
            shared_reserved: KIB,
        }
    }

    /// A fictitious device with warps of 64 lanes and round numbers.
    pub const WAVE64: Self = Self {
        warp_lanes: 64,
        warps: 32,
        blocks: 16,
        threads_per_block: 1024,
        registers: 128 * KIB,
        registers_per_thread: 256,
        register_unit: 512,
        partitions: 4,
        shared_bytes: 64 * KIB,
        shared_bytes_per_block: 64 * KIB,
        shared_unit: 512,
        shared_reserved: 0,
    };

    /// How many blocks a multiprocessor holds at once
    /// (`cudaOccupancyMaxActiveBlocksPerMultiprocessor`).
    #[must_use]
    pub fn occupancy(&self, block: &BlockResources) -> Occupancy {
        let warps = block.threads.div_ceil(self.warp_lanes).max(1);
        let too_large = block.threads > self.threads_per_block;
        let by_limiter = [
            (
                Limiter::Warps,
                if too_large { 0 } else { self.warps / warps },
            ),
            (Limiter::Blocks, self.blocks),
            (Limiter::Registers, self.blocks_by_registers(block, warps)),
            (Limiter::SharedMemory, self.blocks_by_shared_memory(block)),
        ];
        // On a tie, the first resource: the one that no kernel can change.
        let tightest = by_limiter.into_iter().min_by_key(|(_, blocks)| *blocks);
        let (limiter, blocks) = tightest.unwrap_or((Limiter::Blocks, 0));
        Occupancy {
            blocks,
            warps: blocks * warps,
            max_warps: self.warps,
            limiter,
        }
    }

    fn blocks_by_registers(&self, block: &BlockResources, warps: u32) -> u32 {
        if block.registers_per_thread > self.registers_per_thread {
            return 0;
        }
        let of_warp = (block.registers_per_thread.max(1) * self.warp_lanes)
            .next_multiple_of(self.register_unit);
        let warps_at_once = self.registers / self.partitions / of_warp * self.partitions;
        warps_at_once / warps
    }

    fn blocks_by_shared_memory(&self, block: &BlockResources) -> u32 {
        if block.shared_bytes > self.shared_bytes_per_block {
            return 0;
        }
        let of_block =
            (block.shared_bytes + self.shared_reserved).next_multiple_of(self.shared_unit);
        self.shared_bytes.checked_div(of_block).unwrap_or(u32::MAX)
    }

    /// The block size, up to `most_threads`, with which the most threads fit on a multiprocessor.
    ///
    /// Each block has `shared_bytes` of shared memory. None if no block fits. It corresponds to
    /// `cudaOccupancyMaxPotentialBlockSize`.
    #[must_use]
    pub fn best_block_size(
        &self,
        registers_per_thread: u32,
        shared_bytes: u32,
        most_threads: u32,
    ) -> Option<BlockSize> {
        self.best_block_size_with(registers_per_thread, |_| shared_bytes, most_threads)
    }

    /// As [`best_block_size`](Self::best_block_size), if a block of `t` threads has `shared_bytes(t)` of shared memory.
    ///
    /// It corresponds to `cudaOccupancyMaxPotentialBlockSizeVariableSMem`.
    #[must_use]
    pub fn best_block_size_with(
        &self,
        registers_per_thread: u32,
        shared_bytes: impl Fn(u32) -> u32,
        most_threads: u32,
    ) -> Option<BlockSize> {
        let most_threads = most_threads.min(self.threads_per_block);
        let most_warps = most_threads.div_ceil(self.warp_lanes);
        let candidates = (1..=most_warps).map(|warps| {
            let threads = (warps * self.warp_lanes).min(most_threads);
            let occupancy = self.occupancy(&BlockResources {
                threads,
                registers_per_thread,
                shared_bytes: shared_bytes(threads),
            });
            BlockSize { threads, occupancy }
        });
        // Of several equally good ones, `max_by_key` gives the last: the largest block.
        candidates
            .filter(|size| size.occupancy.blocks > 0)
            .max_by_key(|size| size.occupancy.blocks * size.threads)
    }
}

/// Resources that one block needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockResources {
    /// Threads of the block.
    pub threads: u32,
    /// Registers of each thread.
    pub registers_per_thread: u32,
    /// Static and dynamic shared memory, in bytes.
    pub shared_bytes: u32,
}

named! {
    /// The resource that is used up first.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    #[non_exhaustive]
    pub enum Limiter {
        /// The number of warps, or a block above the largest block size.
        Warps = "warps",
        /// The number of blocks.
        Blocks = "blocks",
        /// Registers.
        Registers = "registers",
        /// Shared memory.
        SharedMemory = "shared memory",
    }
}

/// Blocks and warps that a multiprocessor holds at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Occupancy {
    /// Blocks; 0 where not even one fits.
    pub blocks: u32,
    /// Warps of these blocks.
    pub warps: u32,
    /// The most warps that the multiprocessor can hold.
    pub max_warps: u32,
    /// The resource that keeps further blocks out.
    pub limiter: Limiter,
}

impl Occupancy {
    /// Warps as a fraction of the most that it can hold, from 0 to 1.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.max_warps)
    }
}

impl fmt::Display for Occupancy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:.0} %: {} blocks with {} of {} warps, limited by {}",
            100.0 * self.fraction(),
            self.blocks,
            self.warps,
            self.max_warps,
            self.limiter
        )
    }
}

/// A block size and the occupancy it gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BlockSize {
    /// Threads of the block.
    pub threads: u32,
    /// The occupancy with it. A grid that fills the device has its blocks on each multiprocessor.
    pub occupancy: Occupancy,
}

#[cfg(test)]
mod tests;

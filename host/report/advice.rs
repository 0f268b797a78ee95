//! Advice about a kernel, given its bottleneck.

use super::data::KernelReport;
use super::roofline::{Bottleneck, Roofline};
use simt::{Operation, Tally};

/// The smallest share of lost passes, lanes or sectors that advice mentions.
const NOTABLE: f64 = 0.2;

/// A change to a kernel that addresses its bottleneck.
///
/// The numbers refer to the checklist of optimisations in table 6.1 of Hwu, Kirk and El Hajj, "Programming Massively
/// Parallel Processors" (fourth edition).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Advice {
    /// Raise the occupancy (1), or keep more loads in flight in each thread.
    RaiseOccupancy,
    /// Launch more and smaller blocks (1), or coarsen less (6): some multiprocessors have no block.
    FillDevice {
        /// The number of blocks of the launch.
        blocks: u64,
        /// The number of multiprocessors of the device.
        multiprocessors: u32,
    },
    /// Coalesce the accesses to global memory (2).
    CoalesceAccesses {
        /// The share of the transferred sectors' bytes that lanes request, from 0 to 1.
        sector_efficiency: f64,
    },
    /// Minimise control divergence (3).
    ReduceDivergence {
        /// The share of the warps' lanes that take part in arithmetic, from 0 to 1.
        branch_efficiency: f64,
    },
    /// Tile the data that several threads read (4).
    TileReusedData,
    /// Privatise: most requests are atomic updates (5).
    Privatise,
    /// Coarsen the threads (6): several blocks read the same data.
    CoarsenBlocks,
    /// Coarsen the threads (6): use each element from shared memory for several outputs, from registers.
    CoarsenThreads,
    /// Pad or permute shared memory (not in the checklist).
    AvoidBankConflicts {
        /// The share of the passes through shared memory that conflicts cause, from 0 to 1.
        lost_passes: f64,
    },
    /// Give the launch more work: it is shorter than its overhead (not in the checklist).
    EnlargeLaunch,
    /// Move fewer bytes: each one already moves only once (not in the checklist).
    MoveFewerBytes,
    /// Do fewer operations, or use tensor cores: the arithmetic units are busy (not in the checklist).
    DoFewerOperations,
}

impl KernelReport {
    /// The change to the kernel that addresses its bottleneck.
    ///
    /// ```
    /// use tilewright::{Advice, Device};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[1.0_f32; 4096])?;
    /// let (_, report) = device.with_report(|| device.reduce_sum(&x))?;
    /// // So few elements are one block: most of the device has nothing to do.
    /// assert!(matches!(report.launches[0].advice(), Advice::FillDevice { blocks: 1, .. }));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn advice(&self) -> Advice {
        let roofline = self.roofline();
        match roofline.bottleneck {
            Bottleneck::MemoryBandwidth => on_memory(self, &roofline),
            Bottleneck::SharedMemoryBandwidth => on_shared_memory(&self.counts.total()),
            Bottleneck::Arithmetic => on_arithmetic(self),
            Bottleneck::Latency => on_latency(self, &roofline),
        }
    }
}

fn on_memory(report: &KernelReport, roofline: &Roofline) -> Advice {
    let total = report.counts.total();
    let sector_efficiency = total.global.sector_efficiency().unwrap_or(1.0);
    let atomics = report.counts.of(Operation::GlobalAtomic).global.requests;
    let is_tiled = total.shared.requests > 0;
    let is_read_again = roofline.l2_seconds > roofline.dram_seconds;
    if sector_efficiency < 1.0 - NOTABLE {
        Advice::CoalesceAccesses { sector_efficiency }
    } else if 2 * atomics > total.global.requests {
        Advice::Privatise
    } else if is_read_again && is_tiled {
        Advice::CoarsenBlocks
    } else if is_read_again {
        Advice::TileReusedData
    } else {
        Advice::MoveFewerBytes
    }
}

fn on_shared_memory(total: &Tally) -> Advice {
    let lost_passes = total.shared.conflicts() as f64 / total.shared.wavefronts.max(1) as f64;
    if lost_passes > NOTABLE {
        Advice::AvoidBankConflicts { lost_passes }
    } else {
        Advice::CoarsenThreads
    }
}

fn on_arithmetic(report: &KernelReport) -> Advice {
    let arithmetic = report
        .counts
        .total_of(|operation| matches!(operation, Operation::Arithmetic(_)));
    let branch_efficiency = arithmetic.branch_efficiency().unwrap_or(1.0);
    if branch_efficiency < 1.0 - NOTABLE {
        Advice::ReduceDivergence { branch_efficiency }
    } else {
        Advice::DoFewerOperations
    }
}

fn on_latency(report: &KernelReport, roofline: &Roofline) -> Advice {
    if roofline.filled < 1.0 {
        Advice::FillDevice {
            blocks: report.grid.count(),
            multiprocessors: report.profile.datasheet().multiprocessors,
        }
    } else if roofline.is_shorter_than_overhead() {
        Advice::EnlargeLaunch
    } else {
        Advice::RaiseOccupancy
    }
}

//! The bottleneck of a launch: the part of the device whose least time is longest.
//!
//! This is a roofline with four roofs (after Williams, Waterman and Patterson, "Roofline: An Insightful Visual
//! Performance Model for Multicore Architectures", 2009), from the counters and the datasheet alone. The model has no
//! arithmetic latency, and no cache hits except those of the first touch. It shows where to look, not how long a
//! launch takes.

use super::data::KernelReport;
use simt::{Datasheet, SECTOR_BYTES, Tally};
use std::fmt;

/// Latency of a load from device memory on a GPU, in seconds. NVIDIA's GPUs from Volta to Hopper have 600 to 800 ns.
const MEMORY_LATENCY: f64 = 700e-9;

/// Overhead of a launch on a GPU, from start to end, in seconds.
pub(super) const LAUNCH_OVERHEAD: f64 = 2e-6;

/// The part of a device that limits a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Bottleneck {
    /// Data from device memory or from the L2 cache.
    MemoryBandwidth,
    /// Passes through shared memory.
    SharedMemoryBandwidth,
    /// Floating-point units.
    Arithmetic,
    /// Latency: too few warps are resident to keep any part busy.
    Latency,
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::MemoryBandwidth => "memory bandwidth",
            Self::SharedMemoryBandwidth => "shared-memory bandwidth",
            Self::Arithmetic => "arithmetic",
            Self::Latency => "latency and occupancy",
        })
    }
}

/// The least time that each part of a device needs for one launch, in seconds.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Roofline {
    /// Device memory, if each sector moves once.
    pub dram_seconds: f64,
    /// The L2 cache, if nothing hits in L1.
    pub l2_seconds: f64,
    /// Shared memory.
    pub shared_seconds: f64,
    /// Floating-point units, for the counted operations.
    pub arithmetic_seconds: f64,
    /// The schedulers, each of which issues one warp instruction per clock, for the counted instructions.
    pub issue_seconds: f64,
    /// Global memory, if each resident warp has one request in flight.
    pub latency_seconds: f64,
    /// The share of the multiprocessors that get a block, from 0 to 1.
    pub filled: f64,
    /// The part that bounds the launch.
    pub bottleneck: Bottleneck,
}

impl Roofline {
    fn of(report: &KernelReport) -> Self {
        let sheet = report.profile.datasheet();
        let total = report.counts.total();
        let busy = Busy::of(&total, report.instructions(), &sheet);
        let launches = report.launches.max(1) as f64;
        let blocks = report.grid.count() as f64;
        let filled = (blocks / f64::from(sheet.multiprocessors)).min(1.0);
        let distinct = report.counts.sectors_read + report.counts.sectors_written;
        let mut roofline = Self {
            dram_seconds: Busy::dram(distinct as f64, &sheet) / launches,
            l2_seconds: busy.l2 / filled / launches,
            shared_seconds: busy.shared / filled / launches,
            arithmetic_seconds: busy.arithmetic / filled / launches,
            issue_seconds: busy.issue / filled / launches,
            latency_seconds: total.global.requests as f64 / launches * MEMORY_LATENCY
                / warps_at_once(report, &sheet),
            filled,
            bottleneck: Bottleneck::Latency,
        };
        roofline.bottleneck = roofline.find_bottleneck();
        roofline
    }

    /// The longest of the least times for memory and arithmetic, in seconds.
    #[must_use]
    pub fn least_seconds(&self) -> f64 {
        let times = [
            self.dram_seconds,
            self.l2_seconds,
            self.shared_seconds,
            self.arithmetic_seconds,
        ];
        times.into_iter().fold(0.0, f64::max)
    }

    fn find_bottleneck(&self) -> Bottleneck {
        let least = self.least_seconds();
        let is_small = self.is_shorter_than_overhead() || self.filled < 0.5;
        if is_small || self.latency_seconds > 2.0 * least {
            Bottleneck::Latency
        } else if self.shared_seconds == least {
            Bottleneck::SharedMemoryBandwidth
        } else if self.arithmetic_seconds == least {
            Bottleneck::Arithmetic
        } else {
            Bottleneck::MemoryBandwidth
        }
    }

    /// Whether the launch overhead is longer than the work.
    pub(super) fn is_shorter_than_overhead(&self) -> bool {
        self.least_seconds() < LAUNCH_OVERHEAD
    }
}

impl KernelReport {
    /// The least times of one launch on the profile's device, and its bottleneck.
    #[must_use]
    pub fn roofline(&self) -> Roofline {
        Roofline::of(self)
    }
}

/// How long some requests keep each part of a full device busy, in seconds.
pub(super) struct Busy {
    pub(super) l2: f64,
    pub(super) shared: f64,
    pub(super) arithmetic: f64,
    pub(super) issue: f64,
}

impl Busy {
    /// For requests that are `instructions` warp instructions.
    pub(super) fn of(tally: &Tally, instructions: u64, sheet: &Datasheet) -> Self {
        let flops = |count: u64, peak: f64| count as f64 / (peak * 1e12);
        Self {
            l2: (tally.global.sectors * SECTOR_BYTES) as f64 / (sheet.l2_bandwidth() * 1e9),
            shared: tally.shared.wavefronts as f64 / sheet.shared_passes_per_second(),
            arithmetic: flops(tally.flops_f32, sheet.f32_peak)
                + flops(tally.flops_f64, sheet.f64_peak),
            issue: instructions as f64 / sheet.instructions_per_second(),
        }
    }

    /// How long `sectors` sectors keep device memory busy, in seconds.
    pub(super) fn dram(sectors: f64, sheet: &Datasheet) -> f64 {
        sectors * SECTOR_BYTES as f64 / (sheet.memory_bandwidth * 1e9)
    }
}

/// The number of the launch's warps that the device holds at once, at least 1. Unknown registers do not limit it.
fn warps_at_once(report: &KernelReport, sheet: &Datasheet) -> f64 {
    let occupancy = report.highest_occupancy();
    let resident = f64::from(occupancy.warps) * f64::from(sheet.multiprocessors);
    let of_block = report.block_threads().div_ceil(sheet.limits.warp_lanes);
    let launched = report.grid.count() as f64 * f64::from(of_block);
    resident.min(launched).max(1.0)
}

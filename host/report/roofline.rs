//! What bounds a launch: the time that each part of a device needs at least for its share.
//!
//! A roofline with four roofs, from the counters and the datasheet alone. It knows no latency of
//! arithmetic, no cache hits but those of the first touch, and nothing that the counters do not
//! see; it says where to look, not how long a launch takes.

use super::KernelReport;
use simt::{Datasheet, Operation, SECTOR_BYTES, Tally};
use std::fmt;

/// How long a load from device memory takes on a GPU, in seconds; 600 to 800 ns are measured on
/// NVIDIA's from Volta to Hopper.
const MEMORY_LATENCY: f64 = 700e-9;

/// A launch that could take less than this is over before a GPU gets going, in seconds.
const LAUNCH_OVERHEAD: f64 = 2e-6;

/// From this part of lost passes, lanes or sectors on, the loss is worth naming.
const NOTABLE: f64 = 0.2;

/// What a launch waits for most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Bottleneck {
    /// Data from device memory or from the L2 cache.
    MemoryBandwidth,
    /// Passes through shared memory.
    SharedMemoryBandwidth,
    /// Floating-point units.
    Arithmetic,
    /// Its own latency: there are too few warps at once to keep any part busy.
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

/// The least times of the parts of a device for one launch, in seconds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Roofline {
    /// Device memory, if each sector moves once.
    pub dram_seconds: f64,
    /// The L2 cache, if nothing hits in L1.
    pub l2_seconds: f64,
    /// Shared memory.
    pub shared_seconds: f64,
    /// Floating-point units, for the operations that are counted.
    pub arithmetic_seconds: f64,
    /// Global memory, if each warp that fits on the device has one request under way.
    pub latency_seconds: f64,
    /// The part of the multiprocessors that gets a block, from 0 to 1.
    pub filled: f64,
    /// The longest of these.
    pub bottleneck: Bottleneck,
    /// What to do about it: where it is one, the item of the checklist in seed 000 (table 6.1).
    pub advice: String,
}

impl Roofline {
    pub(super) fn of(report: &KernelReport) -> Self {
        let sheet = report.profile.datasheet();
        let total = report.counts.total();
        // Times are of one launch.
        let per_launch = |count: u64| count as f64 / report.launches.max(1) as f64;
        let blocks = report.grid.count() as f64;
        let filled = (blocks / f64::from(sheet.multiprocessors)).min(1.0);
        let moved = per_launch(total.global.sectors * SECTOR_BYTES);
        let distinct = report.counts.sectors_read + report.counts.sectors_written;
        let flops = |count: u64, peak: f64| per_launch(count) / (peak * 1e12 * filled);
        let mut roofline = Self {
            dram_seconds: per_launch(distinct * SECTOR_BYTES) / (sheet.memory_bandwidth * 1e9),
            l2_seconds: moved / (sheet.l2_bandwidth() * 1e9 * filled),
            shared_seconds: per_launch(total.shared.wavefronts)
                / (sheet.shared_passes_per_second() * filled),
            arithmetic_seconds: flops(total.flops_f32, sheet.f32_peak)
                + flops(total.flops_f64, sheet.f64_peak),
            latency_seconds: per_launch(total.global.requests) * MEMORY_LATENCY
                / warps_at_once(report, &sheet),
            filled,
            bottleneck: Bottleneck::Latency,
            advice: String::new(),
        };
        roofline.bottleneck = roofline.find_bottleneck();
        roofline.advice = roofline.find_advice(report, &total);
        roofline
    }

    /// The longest of the times, in seconds.
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
        let is_small = least < LAUNCH_OVERHEAD || self.filled < 0.5;
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

    fn find_advice(&self, report: &KernelReport, total: &Tally) -> String {
        match self.bottleneck {
            Bottleneck::MemoryBandwidth => self.advice_on_memory(report, total),
            Bottleneck::SharedMemoryBandwidth => advice_on_shared_memory(total),
            Bottleneck::Arithmetic => advice_on_arithmetic(report),
            Bottleneck::Latency => self.advice_on_latency(report),
        }
    }

    fn advice_on_memory(&self, report: &KernelReport, total: &Tally) -> String {
        let efficiency = total.global.sector_efficiency().unwrap_or(1.0);
        let atomics = report.counts.of(Operation::GlobalAtomic).global.requests;
        let is_tiled = total.shared.requests > 0;
        if efficiency < 1.0 - NOTABLE {
            format!(
                "item 2, coalesced global accesses: only {:.0} % of the sectors' bytes are asked for",
                100.0 * efficiency
            )
        } else if 2 * atomics > total.global.requests {
            "item 5, privatisation: most requests are atomic updates".to_owned()
        } else if self.l2_seconds > self.dram_seconds && is_tiled {
            "item 6, thread coarsening: blocks read the same data again".to_owned()
        } else if self.l2_seconds > self.dram_seconds {
            "item 4, tiling of reused data: threads read the same data again".to_owned()
        } else {
            "none of the checklist: each byte moves once; only fewer bytes would be faster"
                .to_owned()
        }
    }

    fn advice_on_latency(&self, report: &KernelReport) -> String {
        let occupancy = report.occupancy();
        if self.filled < 1.0 {
            format!(
                "item 1, occupancy: {} blocks for {} multiprocessors; more and smaller blocks, or \
                 less coarsening (item 6 taken too far)",
                report.grid.count(),
                report.profile.datasheet().multiprocessors
            )
        } else if self.least_seconds() < LAUNCH_OVERHEAD {
            "none of the checklist: the launch is shorter than its overhead; give it more work"
                .to_owned()
        } else {
            format!("item 1, occupancy: {occupancy}; or more loads under way in each thread")
        }
    }
}

fn advice_on_shared_memory(total: &Tally) -> String {
    let lost = total.shared.conflicts() as f64 / total.shared.wavefronts.max(1) as f64;
    if lost > NOTABLE {
        format!(
            "bank conflicts (seed 003; none of the checklist): {:.0} % of the passes; pad the \
             rows or permute the columns",
            100.0 * lost
        )
    } else {
        "item 6, thread coarsening: an element that is read from shared memory should serve \
         several outputs from registers"
            .to_owned()
    }
}

fn advice_on_arithmetic(report: &KernelReport) -> String {
    let arithmetic = report
        .counts
        .total_of(|operation| matches!(operation, Operation::Arithmetic(_)));
    let efficiency = arithmetic.branch_efficiency().unwrap_or(1.0);
    if efficiency < 1.0 - NOTABLE {
        format!(
            "item 3, control divergence: {:.0} % of the lanes take part",
            100.0 * efficiency
        )
    } else {
        "none of the checklist: the units are busy; only fewer operations, or tensor cores, would \
         be faster"
            .to_owned()
    }
}

/// Warps that the device holds at once, of those that the launch has; at least 1.
fn warps_at_once(report: &KernelReport, sheet: &Datasheet) -> f64 {
    let occupancy = report.occupancy();
    let room = f64::from(occupancy.warps) * f64::from(sheet.multiprocessors);
    let of_block = report.block_threads().div_ceil(sheet.limits.warp_lanes);
    let there = report.grid.count() as f64 * f64::from(of_block);
    room.min(there).max(1.0)
}

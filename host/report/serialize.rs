//! Serialisation of reports with `serde`, in the layout that [`LaunchReport`] documents.

use super::advice::Advice;
use super::data::{KernelReport, LaunchReport};
use super::estimate::{DevicePart, SourceLine};
use super::roofline::Roofline;
use serde::{Serialize, Serializer};
use simt::{Dim3, LineCounts, Tally};

impl Serialize for LaunchReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Layout {
            profile: &'static str,
            kernels: Vec<KernelReport>,
        }
        let layout = Layout {
            profile: self.profile.name(),
            kernels: self.by_kernel(),
        };
        layout.serialize(serializer)
    }
}

impl Serialize for KernelReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Layout<'a> {
            kernel: &'a str,
            launches: u64,
            grid: [u32; 3],
            block: [u32; 3],
            shared_bytes: u32,
            registers: Option<u32>,
            registers_from: Option<&'a str>,
            occupancy: Option<f64>,
            blocks_per_multiprocessor: Option<u32>,
            occupancy_limiter: Option<String>,
            sectors_read: u64,
            sectors_written: u64,
            total: TallyLayout,
            roofline: Roofline,
            estimated_seconds: Option<f64>,
            instruction_mix: Vec<MixLayout>,
            advice: Advice,
            lines: Vec<LineLayout<'a>>,
            source_lines: Vec<SourceLineLayout>,
        }
        let extent = |extent: Dim3| [extent.x, extent.y, extent.z];
        let occupancy = self.occupancy();
        let layout = Layout {
            kernel: &self.kernel,
            launches: self.launches,
            grid: extent(self.grid),
            block: extent(self.block),
            shared_bytes: self.shared_bytes(),
            registers: self.registers,
            registers_from: self.registers_from.as_deref(),
            occupancy: occupancy.map(|it| it.fraction()),
            blocks_per_multiprocessor: occupancy.map(|it| it.blocks),
            occupancy_limiter: occupancy.map(|it| it.limiter.to_string()),
            sectors_read: self.counts.sectors_read,
            sectors_written: self.counts.sectors_written,
            total: TallyLayout::of(&self.counts.total()),
            roofline: self.roofline(),
            estimated_seconds: self.estimated_seconds(),
            instruction_mix: MixLayout::of(self),
            advice: self.advice(),
            lines: self.counts.lines.iter().map(LineLayout::of).collect(),
            source_lines: self.source_lines().into_iter().map(Into::into).collect(),
        };
        layout.serialize(serializer)
    }
}

#[derive(Serialize)]
struct LineLayout<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    operation: String,
    tally: TallyLayout,
}

impl<'a> LineLayout<'a> {
    fn of(counts: &'a LineCounts) -> Self {
        Self {
            file: &counts.location.file,
            line: counts.location.line,
            column: counts.location.column,
            operation: counts.operation.to_string(),
            tally: TallyLayout::of(&counts.tally),
        }
    }
}

/// The number of warp instructions of an operation.
#[derive(Serialize)]
struct MixLayout {
    operation: String,
    instructions: u64,
    share: f64,
}

impl MixLayout {
    fn of(report: &KernelReport) -> Vec<Self> {
        let whole = report.instructions() as f64;
        let mix = report.instruction_mix().into_iter();
        mix.map(|(operation, instructions)| Self {
            operation: operation.to_string(),
            instructions,
            share: instructions as f64 / whole,
        })
        .collect()
    }
}

#[derive(Serialize)]
struct SourceLineLayout {
    file: String,
    line: u32,
    instructions: u64,
    estimated_share: Option<f64>,
    estimated_seconds: Option<f64>,
    bound: Option<DevicePart>,
}

impl From<SourceLine> for SourceLineLayout {
    fn from(line: SourceLine) -> Self {
        Self {
            instructions: line.total_instructions(),
            estimated_share: line.estimate.map(|it| it.share),
            estimated_seconds: line.estimate.map(|it| it.seconds),
            bound: line.estimate.map(|it| it.bound),
            file: line.file,
            line: line.line,
        }
    }
}

#[derive(Serialize)]
struct TallyLayout {
    requests: u64,
    lanes: u64,
    branch_efficiency: Option<f64>,
    flops_f32: u64,
    flops_f64: u64,
    arithmetic_intensity: Option<f64>,
    global: GlobalLayout,
    shared: SharedLayout,
}

#[derive(Serialize)]
struct GlobalLayout {
    requests: u64,
    sectors: u64,
    lines: u64,
    bytes_asked: u64,
    bytes_distinct: u64,
    sector_efficiency: Option<f64>,
    line_efficiency: Option<f64>,
}

#[derive(Serialize)]
struct SharedLayout {
    requests: u64,
    wavefronts: u64,
    ideal_wavefronts: u64,
    bank_conflicts: u64,
    bytes_asked: u64,
}

impl TallyLayout {
    fn of(tally: &Tally) -> Self {
        let (global, shared) = (&tally.global, &tally.shared);
        Self {
            requests: tally.requests,
            lanes: tally.lanes,
            branch_efficiency: tally.branch_efficiency(),
            flops_f32: tally.flops_f32,
            flops_f64: tally.flops_f64,
            arithmetic_intensity: tally.arithmetic_intensity(),
            global: GlobalLayout {
                requests: global.requests,
                sectors: global.sectors,
                lines: global.lines,
                bytes_asked: global.bytes_asked,
                bytes_distinct: global.bytes_distinct,
                sector_efficiency: global.sector_efficiency(),
                line_efficiency: global.line_efficiency(),
            },
            shared: SharedLayout {
                requests: shared.requests,
                wavefronts: shared.wavefronts,
                ideal_wavefronts: shared.ideal_wavefronts,
                bank_conflicts: shared.conflicts(),
                bytes_asked: shared.bytes_asked,
            },
        }
    }
}

//! Estimates of where a launch spends its time: a roofline for each source line.

use super::data::KernelReport;
use super::roofline::{Busy, LAUNCH_OVERHEAD, Roofline};
use simt::{Operation, Tally};
use std::collections::BTreeMap;
use std::fmt;

/// A part of a device that a source line keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum DevicePart {
    /// Device memory.
    DeviceMemory,
    /// The path between the L2 cache and the multiprocessors.
    L2Cache,
    /// Shared memory.
    SharedMemory,
    /// Floating-point units.
    Arithmetic,
    /// The schedulers, each of which issues one warp instruction per clock.
    InstructionIssue,
}

impl fmt::Display for DevicePart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::DeviceMemory => "device memory",
            Self::L2Cache => "L2 cache",
            Self::SharedMemory => "shared memory",
            Self::Arithmetic => "arithmetic",
            Self::InstructionIssue => "instruction issue",
        })
    }
}

/// A line of a kernel's source, with its instructions and its share of the launch's time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SourceLine {
    /// The path that cargo gave to the compiler.
    pub file: String,
    /// The line number, from 1.
    pub line: u32,
    /// The line's operations, each summed over the columns of the line.
    pub operations: BTreeMap<Operation, Tally>,
    /// The line's share of the time; `None` if the launch has no [estimate](KernelReport::estimated_seconds).
    pub estimate: Option<LineEstimate>,
}

/// The part of a launch's time that is estimated for a source line.
///
/// A line takes as long as the part of the device that it keeps busy longest, as if it had the device to itself.
/// These times are scaled so that they add up to the estimate of the launch. Instructions that are not counted, such
/// as plain additions and address arithmetic, are not included.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LineEstimate {
    /// The line's share of the time, from 0 to 1.
    pub share: f64,
    /// The line's part of the time of one launch, without the launch overhead, in seconds.
    pub seconds: f64,
    /// The part of the device that bounds the line.
    pub bound: DevicePart,
}

impl KernelReport {
    /// The counted lines in source order, each with its instructions and its estimated share of the time.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[1.0_f32; 4096])?;
    /// let (_, report) = device.with_report(|| device.reduce_sum(&x))?;
    /// for line in report.launches[0].source_lines() {
    ///     if let Some(estimate) = line.estimate {
    ///         let percent = 100.0 * estimate.share;
    ///         println!("{}:{} {percent:.1} %, by {}", line.file, line.line, estimate.bound);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn source_lines(&self) -> Vec<SourceLine> {
        let mut lines: Vec<SourceLine> = Vec::new();
        for counted in &self.counts.lines {
            let place = &counted.location;
            let is_same = |line: &SourceLine| line.file == place.file && line.line == place.line;
            if !lines.last().is_some_and(is_same) {
                lines.push(SourceLine {
                    file: place.file.to_string(),
                    line: place.line,
                    operations: BTreeMap::new(),
                    estimate: None,
                });
            }
            let line = lines.last_mut().expect("one was pushed at the latest");
            *line.operations.entry(counted.operation).or_default() += counted.tally;
        }
        self.estimate(&mut lines);
        lines
    }

    /// The estimated time of one launch on the profile's device, in seconds.
    ///
    /// It is the launch overhead plus the time of the part of the device that the launch keeps busy longest. It is
    /// `None` if the launch uses tensor cores or bulk copies, whose time depends on more than the counters.
    ///
    /// The model assumes that data comes from device memory once and that latency is hidden. So a launch with few
    /// warps or with long chains of loads takes longer. docs/counters.md has the error against an H200.
    #[must_use]
    pub fn estimated_seconds(&self) -> Option<f64> {
        Some(LAUNCH_OVERHEAD + self.estimated_work()?)
    }

    /// [`estimated_seconds`](Self::estimated_seconds) without the launch's overhead.
    fn estimated_work(&self) -> Option<f64> {
        let total = self.counts.total();
        let bulk = total.asynchronous.bulk_bytes_read + total.asynchronous.bulk_bytes_stored;
        let is_known = total.tensor_operations == 0 && bulk == 0;
        let roofline = self.roofline();
        is_known.then(|| roofline.least_seconds().max(roofline.issue_seconds))
    }

    /// The counted warp instructions by operation, most frequent first.
    ///
    /// An asynchronous copy is one instruction, counted with its writing half.
    #[must_use]
    pub fn instruction_mix(&self) -> Vec<(Operation, u64)> {
        let mut mix: BTreeMap<Operation, u64> = BTreeMap::new();
        for line in &self.counts.lines {
            let count = instructions(line.operation, &line.tally);
            if count > 0 {
                *mix.entry(line.operation).or_default() += count;
            }
        }
        let mut mix: Vec<_> = mix.into_iter().collect();
        mix.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        mix
    }

    /// The number of counted warp instructions: the sum of the [mix](Self::instruction_mix).
    #[must_use]
    pub fn instructions(&self) -> u64 {
        let counts = self.counts.lines.iter();
        counts.map(|it| instructions(it.operation, &it.tally)).sum()
    }

    fn estimate(&self, lines: &mut [SourceLine]) {
        let Some(work) = self.estimated_work() else {
            return;
        };
        let model = LineModel::of(self);
        let times: Vec<_> = lines.iter().map(|line| model.longest(line)).collect();
        let whole: f64 = times.iter().map(|(_, seconds)| seconds).sum();
        for (line, (bound, seconds)) in lines.iter_mut().zip(times) {
            let share = if whole > 0.0 { seconds / whole } else { 0.0 };
            line.estimate = Some(LineEstimate {
                share,
                seconds: share * work,
                bound,
            });
        }
    }
}

impl SourceLine {
    /// The line's cost over all operations.
    #[must_use]
    pub fn total(&self) -> Tally {
        let mut sum = Tally::default();
        for tally in self.operations.values() {
            sum += *tally;
        }
        sum
    }

    /// The counted warp instructions of one operation.
    ///
    /// It is 0 for the reading half of an asynchronous copy, which counts with its writing half.
    #[must_use]
    pub fn instructions(&self, operation: Operation) -> u64 {
        let tally = self.operations.get(&operation);
        tally.map_or(0, |tally| instructions(operation, tally))
    }

    /// The counted warp instructions of all operations.
    #[must_use]
    pub fn total_instructions(&self) -> u64 {
        let operations = self.operations.iter();
        operations.map(|(it, tally)| instructions(*it, tally)).sum()
    }
}

/// The warp instructions of some requests. An asynchronous copy is one instruction, but two requests.
fn instructions(operation: Operation, tally: &Tally) -> u64 {
    match operation {
        Operation::AsyncCopyRead => 0,
        _ => tally.requests,
    }
}

/// The inputs for the estimate of a line's time.
struct LineModel<'a> {
    report: &'a KernelReport,
    roofline: Roofline,
    /// Distinct sectors for each requested one, for reads and for writes. Repeated requests are served by a cache.
    distinct_read: f64,
    distinct_written: f64,
}

impl<'a> LineModel<'a> {
    fn of(report: &'a KernelReport) -> Self {
        let counts = &report.counts;
        let part = |distinct: u64, requested: u64| distinct as f64 / requested.max(1) as f64;
        let requested = |of: fn(Operation) -> bool| counts.total_of(of).global.sectors;
        Self {
            report,
            roofline: report.roofline(),
            distinct_read: part(counts.sectors_read, requested(Operation::reads_global)),
            distinct_written: part(counts.sectors_written, requested(Operation::writes_global)),
        }
    }

    /// The part of the device that the line keeps busy longest, and for how many seconds of a launch.
    fn longest(&self, line: &SourceLine) -> (DevicePart, f64) {
        let sheet = self.report.profile.datasheet();
        let busy = Busy::of(&line.total(), line.total_instructions(), &sheet);
        let launches = self.report.launches.max(1) as f64;
        let on_filled = |seconds: f64| seconds / self.roofline.filled / launches;
        let parts = [
            (
                DevicePart::DeviceMemory,
                Busy::dram(self.distinct(line), &sheet) / launches,
            ),
            (DevicePart::L2Cache, on_filled(busy.l2)),
            (DevicePart::SharedMemory, on_filled(busy.shared)),
            (DevicePart::Arithmetic, on_filled(busy.arithmetic)),
            (DevicePart::InstructionIssue, on_filled(busy.issue)),
        ];
        let longest = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        longest.expect("a device has parts")
    }

    /// The line's share of the distinct sectors.
    fn distinct(&self, line: &SourceLine) -> f64 {
        let of_operation = |(operation, tally): (&Operation, &Tally)| {
            let part = |is: bool, distinct: f64| if is { distinct } else { 0.0 };
            let read = part(operation.reads_global(), self.distinct_read);
            let written = part(operation.writes_global(), self.distinct_written);
            tally.global.sectors as f64 * (read + written)
        };
        line.operations.iter().map(of_operation).sum()
    }
}

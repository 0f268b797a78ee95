//! Where a launch spends its time, as an estimate: a roofline for each source line.

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
    /// The way between the L2 cache and the multiprocessors.
    L2Cache,
    /// Shared memory.
    SharedMemory,
    /// Floating-point units.
    Arithmetic,
    /// The schedulers, which issue an instruction of a warp in a clock.
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

/// A line of a kernel's source: its instructions, and its part of the launch's time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SourceLine {
    /// The path that cargo gave to the compiler.
    pub file: String,
    /// The line's number, from 1.
    pub line: u32,
    /// What the line does, each operation summed over the line's columns.
    pub operations: BTreeMap<Operation, Tally>,
    /// Its part of the time; none where the launch has no [estimate](KernelReport::estimated_seconds).
    pub estimate: Option<LineEstimate>,
}

/// The part of a launch's time that is estimated for a source line.
///
/// A line takes as long as the part of the device that it keeps busy longest, as if it had the
/// device for itself; these times, scaled to the estimate of the launch, are the lines' parts of it.
/// Instructions that are not counted, such as plain additions and addresses, are not in it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LineEstimate {
    /// The line's share of the time, from 0 to 1.
    pub share: f64,
    /// The line's part of the time of one launch without its overhead, in seconds.
    pub seconds: f64,
    /// What bounds the line.
    pub bound: DevicePart,
}

impl KernelReport {
    /// The counted lines, in the order of the source, each with its instructions and its estimated
    /// part of the time.
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

    /// How long one launch takes on the profile's device, in seconds, as an estimate: the time that a
    /// GPU takes to start and end any launch, and that of the part of the device that the launch keeps
    /// busy longest. None where the launch uses tensor cores or bulk copies, whose time depends on
    /// more than is counted.
    ///
    /// Data comes from device memory once, and latency is hidden, so that a launch with few warps or
    /// long chains of loads takes longer. docs/counters.md has the error against an H200.
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

    /// The counted instructions of the warps by operation, the most frequent first. An asynchronous
    /// copy is one, with the half that writes.
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

    /// The counted instructions of the warps: the sum of the [mix](Self::instruction_mix).
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

    /// The line's counted instructions of the warps, of one operation: 0 for the half of an
    /// asynchronous copy that reads, which its other half has.
    #[must_use]
    pub fn instructions(&self, operation: Operation) -> u64 {
        let tally = self.operations.get(&operation);
        tally.map_or(0, |tally| instructions(operation, tally))
    }

    /// Those of all operations.
    #[must_use]
    pub fn total_instructions(&self) -> u64 {
        let operations = self.operations.iter();
        operations.map(|(it, tally)| instructions(*it, tally)).sum()
    }
}

/// An asynchronous copy is one instruction and two requests.
fn instructions(operation: Operation, tally: &Tally) -> u64 {
    match operation {
        Operation::AsyncCopyRead => 0,
        _ => tally.requests,
    }
}

/// What the time of a line is estimated from.
struct LineModel<'a> {
    report: &'a KernelReport,
    roofline: Roofline,
    /// Distinct sectors for each requested one, of reads and of writes: what is requested again comes
    /// from a cache.
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

    /// The line's part of the distinct sectors.
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

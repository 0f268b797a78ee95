//! The report as a table for the terminal.

use super::source::{SourceFile, annotate};
use super::{KernelReport, LaunchReport, Roofline};
use simt::{LineCounts, Operation, Tally};
use std::fmt::{self, Display, Formatter};

/// A number as people write it: 1234567 as `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A part of a whole, as percent.
pub(super) fn percent(part: Option<f64>) -> String {
    part.map_or_else(String::new, |part| format!("{:.1} %", 100.0 * part))
}

/// A time in a unit that fits.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1e-6 => format!("{:.0} ns", seconds * 1e9),
        seconds if seconds < 1e-3 => format!("{:.1} us", seconds * 1e6),
        seconds => format!("{:.1} ms", seconds * 1e3),
    }
}

/// The facts about a kernel's launches, as names and values.
pub(super) fn facts(report: &KernelReport) -> Vec<(&'static str, String)> {
    let total = report.counts.total();
    let requests = |operation| grouped(report.counts.of(operation).requests);
    let intensity = total.arithmetic_intensity();
    let sectors = report.counts.sectors_read + report.counts.sectors_written;
    vec![
        ("launches", grouped(report.launches)),
        (
            "grid, block",
            format!("{} blocks of {} threads", report.grid, report.block),
        ),
        (
            "shared memory",
            format!(
                "{} bytes for each block",
                grouped(report.shared_bytes().into())
            ),
        ),
        (
            "occupancy",
            format!(
                "{}, with {} registers for each thread",
                report.occupancy(),
                report.registers
            ),
        ),
        (
            "f32, f64 operations",
            format!("{}, {}", grouped(total.flops_f32), grouped(total.flops_f64)),
        ),
        (
            "bytes moved",
            format!(
                "{} in {} distinct sectors",
                grouped(32 * total.global.sectors),
                grouped(sectors)
            ),
        ),
        (
            "arithmetic intensity",
            intensity.map_or_else(String::new, |flops| {
                format!("{flops:.2} operations for each byte moved")
            }),
        ),
        (
            "sector, line efficiency",
            format!(
                "{}, {}",
                percent(total.global.sector_efficiency()),
                percent(total.global.line_efficiency())
            ),
        ),
        (
            "bank conflicts",
            format!(
                "{} of {} passes",
                grouped(total.shared.conflicts()),
                grouped(total.shared.wavefronts)
            ),
        ),
        ("branch efficiency", percent(total.branch_efficiency())),
        (
            "barriers, shuffles",
            format!(
                "{}, {}",
                requests(Operation::BlockBarrier),
                requests(Operation::Shuffle)
            ),
        ),
        (
            "atomics, async copies",
            format!(
                "{}, {}",
                requests(Operation::GlobalAtomic),
                requests(Operation::AsyncCopyWrite)
            ),
        ),
    ]
}

/// The least times of the parts of the device, as names and seconds.
pub(super) fn times(roofline: &Roofline) -> [(&'static str, f64); 5] {
    [
        ("device memory", roofline.dram_seconds),
        ("L2 cache", roofline.l2_seconds),
        ("shared memory", roofline.shared_seconds),
        ("arithmetic", roofline.arithmetic_seconds),
        ("latency, one request a warp", roofline.latency_seconds),
    ]
}

/// The cells of a row: requests, lanes, sectors, efficiency, conflicts.
pub(super) fn cells(tally: &Tally) -> [String; 5] {
    let has_global = tally.global.requests > 0;
    let has_shared = tally.shared.requests > 0;
    let when = |present: bool, text: String| if present { text } else { String::new() };
    [
        grouped(tally.requests),
        percent(tally.branch_efficiency()),
        when(has_global, grouped(tally.global.sectors)),
        percent(tally.global.sector_efficiency()),
        when(
            has_shared,
            format!(
                "{} of {}",
                grouped(tally.shared.conflicts()),
                grouped(tally.shared.wavefronts)
            ),
        ),
    ]
}

impl Display for LaunchReport {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if self.launches.is_empty() {
            return writeln!(formatter, "no kernel was launched");
        }
        for kernel in self.by_kernel() {
            write!(formatter, "{kernel}")?;
        }
        Ok(())
    }
}

impl Display for KernelReport {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let sheet = self.profile.datasheet();
        let roofline = self.roofline();
        writeln!(formatter, "{} on {}", self.kernel, sheet.name)?;
        for (name, value) in facts(self) {
            writeln!(formatter, "  {name:24} {value}")?;
        }
        writeln!(formatter, "  bottleneck: {}", roofline.bottleneck)?;
        writeln!(formatter, "    {}", roofline.advice)?;
        let times = times(&roofline).map(|(name, seconds)| format!("{name} {}", duration(seconds)));
        writeln!(formatter, "    at least: {}", times.join("; "))?;
        write_lines(
            formatter,
            &self.counts.lines,
            &annotate(&self.counts.lines, &sheet),
        )
    }
}

fn write_lines(
    formatter: &mut Formatter<'_>,
    counts: &[LineCounts],
    files: &[SourceFile],
) -> fmt::Result {
    let places = counts
        .iter()
        .map(|line| place(&line.location.file, line.location.line).len());
    let width = places.max().unwrap_or(0).max(5);
    writeln!(
        formatter,
        "  {:width$} {:18} {:>12} {:>8} {:>12} {:>8} {:>20}  cost",
        "line", "operation", "requests", "lanes", "sectors", "useful", "bank conflicts"
    )?;
    for file in files {
        for (number, line) in &file.lines {
            for (index, (operation, tally)) in line.operations.iter().enumerate() {
                let place = if index == 0 {
                    place(&file.path, *number)
                } else {
                    String::new()
                };
                let cost = if index == 0 {
                    percent(Some(line.share))
                } else {
                    String::new()
                };
                let [requests, lanes, sectors, useful, conflicts] = cells(tally);
                writeln!(
                    formatter,
                    "  {place:width$} {:18} {requests:>12} {lanes:>8} {sectors:>12} {useful:>8} {conflicts:>20}  {cost}",
                    operation.to_string()
                )?;
            }
        }
    }
    Ok(())
}

fn place(file: &str, line: u32) -> String {
    format!("{file}:{line}")
}

#[cfg(test)]
mod tests {
    use super::{duration, grouped};

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration(2e-7), "200 ns");
        assert_eq!(duration(1.25e-5), "12.5 us");
        assert_eq!(duration(2.0), "2000.0 ms");
    }
}

//! The words and numbers of a report, for tables and pages.

use std::time::Duration;
use tilewright::simt::SECTOR_BYTES;
use tilewright::{KernelReport, Operation, Roofline, SourceLine, Tally};

/// A number with its digits in groups: 1234567 as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
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

/// A share from 0 to 1 as percent; empty if there is none.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(String::new, |share| format!("{:.1} %", 100.0 * share))
}

/// A time in a unit that fits.
pub(crate) fn duration(seconds: f64) -> String {
    Duration::try_from_secs_f64(seconds)
        .map_or_else(|_| "unknown".to_owned(), |time| format!("{time:.1?}"))
}

/// The facts about a kernel's launches, as names and values.
pub(crate) fn facts(report: &KernelReport) -> Vec<(&'static str, String)> {
    let total = report.counts.total();
    let requests = |operation| grouped(report.counts.of(operation).requests);
    let pair = |first: &str, second: &str| format!("{first}, {second}");
    let sectors = report.counts.sectors_read + report.counts.sectors_written;
    vec![
        ("launches", grouped(report.launches)),
        (
            "grid, block",
            format!("{} blocks of {} threads", report.grid, report.block),
        ),
        (
            "shared memory",
            format!("{} bytes per block", grouped(report.shared_bytes().into())),
        ),
        (
            "occupancy",
            report.occupancy().map_or_else(
                || "unknown, as the registers per thread are".to_owned(),
                |occupancy| occupancy.to_string(),
            ),
        ),
        (
            "registers",
            match (report.registers, &report.registers_from) {
                (None, _) => "unknown".to_owned(),
                (Some(registers), None) => format!("{registers} per thread"),
                (Some(registers), Some(origin)) => {
                    format!("{registers} per thread, by {origin}")
                }
            },
        ),
        (
            "f32, f64 operations",
            pair(&grouped(total.flops_f32), &grouped(total.flops_f64)),
        ),
        (
            "bytes moved",
            format!(
                "{} in {} distinct sectors",
                grouped(SECTOR_BYTES * total.global.sectors),
                grouped(sectors)
            ),
        ),
        (
            "arithmetic intensity",
            total
                .arithmetic_intensity()
                .map_or_else(String::new, |flops| {
                    format!("{flops:.2} operations per byte moved")
                }),
        ),
        (
            "sector, line efficiency",
            pair(
                &percent(total.global.sector_efficiency()),
                &percent(total.global.line_efficiency()),
            ),
        ),
        ("bank conflicts", conflicts(&total)),
        ("branch efficiency", percent(total.branch_efficiency())),
        (
            "barriers, shuffles",
            pair(
                &requests(Operation::BlockBarrier),
                &requests(Operation::Shuffle),
            ),
        ),
        (
            "atomics, async copies",
            pair(
                &requests(Operation::GlobalAtomic),
                &requests(Operation::AsyncCopyWrite),
            ),
        ),
    ]
}

/// The least times of the parts of the device, as names and seconds.
pub(crate) fn times(roofline: &Roofline) -> [(&'static str, f64); 6] {
    [
        ("device memory", roofline.dram_seconds),
        ("L2 cache", roofline.l2_seconds),
        ("shared memory", roofline.shared_seconds),
        ("arithmetic", roofline.arithmetic_seconds),
        ("instruction issue", roofline.issue_seconds),
        ("latency, one request per warp", roofline.latency_seconds),
    ]
}

/// The estimate of a launch's time.
pub(crate) fn estimate(report: &KernelReport) -> String {
    report.estimated_seconds().map_or_else(
        || "no estimate of the time: tensor cores and bulk copies are not in the model".to_owned(),
        |seconds| {
            let seconds = duration(seconds);
            format!("estimate: {seconds} a launch, with its overhead, if latency is hidden")
        },
    )
}

/// The counted instructions and their shares.
pub(crate) fn instruction_mix(report: &KernelReport) -> String {
    let mix = report.instruction_mix();
    let whole = report.instructions();
    let share = |count: u64| percent(Some(count as f64 / whole as f64));
    let parts = mix
        .iter()
        .map(|(operation, count)| format!("{operation} {}", share(*count)));
    format!(
        "{} of warps are counted: {}",
        grouped(whole),
        parts.collect::<Vec<_>>().join("; ")
    )
}

/// The form of numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// With all digits.
    Whole,
    /// With three digits and a unit.
    Short,
}

impl Numbers {
    fn count(self, number: u64) -> String {
        match self {
            Self::Whole => grouped(number),
            Self::Short => short(number),
        }
    }

    fn percent(self, share: Option<f64>) -> String {
        match self {
            Self::Whole => percent(share),
            Self::Short => share.map_or_else(String::new, |it| format!("{:.0} %", 100.0 * it)),
        }
    }
}

/// A number with three digits and a unit: 1234567 as `1.23 M`.
fn short(number: u64) -> String {
    const UNITS: [&str; 6] = ["k", "M", "G", "T", "P", "E"];
    if number < 10_000 {
        return grouped(number);
    }
    let (mut rest, mut unit) = (number as f64 / 1e3, 0);
    while rest >= 999.5 && unit + 1 < UNITS.len() {
        rest /= 1e3;
        unit += 1;
    }
    let digits = match rest {
        rest if rest < 9.995 => 2,
        rest if rest < 99.95 => 1,
        _ => 0,
    };
    format!("{rest:.digits$} {}", UNITS[unit])
}

/// The headings of [`cells`].
pub(crate) const COLUMNS: [&str; 7] = [
    "requests", "mix", "lanes", "sectors", "useful", "passes", "lost",
];

/// The costs of an operation of a line; `instructions` is the kernel's number of instructions.
pub(crate) fn cells(
    line: &SourceLine,
    operation: Operation,
    instructions: u64,
    numbers: Numbers,
) -> [String; COLUMNS.len()] {
    let tally = &line.operations[&operation];
    let counted = line.instructions(operation);
    let mix = (counted > 0).then(|| counted as f64 / instructions as f64);
    let when = |present: u64, number| match present {
        0 => String::new(),
        _ => numbers.count(number),
    };
    [
        numbers.count(tally.requests),
        numbers.percent(mix),
        numbers.percent(tally.branch_efficiency()),
        when(tally.global.requests, tally.global.sectors),
        numbers.percent(tally.global.sector_efficiency()),
        when(tally.shared.requests, tally.shared.wavefronts),
        when(tally.shared.requests, tally.shared.conflicts()),
    ]
}

fn conflicts(tally: &Tally) -> String {
    format!(
        "{} of {} passes",
        grouped(tally.shared.conflicts()),
        grouped(tally.shared.wavefronts)
    )
}

#[cfg(test)]
mod tests {
    use super::{duration, grouped, short};

    #[test]
    fn digits_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn short_numbers_have_three_digits() {
        for (number, text) in [
            (9_999, "9,999"),
            (10_000, "10.0 k"),
            (99_960, "100 k"),
            (999_499, "999 k"),
            (999_500, "1.00 M"),
            (1_073_741_824, "1.07 G"),
            (u64::MAX, "18.4 E"),
        ] {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration(2e-7), "200.0ns");
        assert_eq!(duration(1.25e-5), "12.5µs");
        assert_eq!(duration(f64::NAN), "unknown");
    }
}

//! The words and numbers of a report, for tables and pages.

use std::time::Duration;
use tilewright::{Advice, KernelReport, Operation, Roofline, SECTOR_BYTES, Tally};

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

/// A share from 0 to 1 as percent; nothing where there is none.
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
pub(crate) fn times(roofline: &Roofline) -> [(&'static str, f64); 5] {
    [
        ("device memory", roofline.dram_seconds),
        ("L2 cache", roofline.l2_seconds),
        ("shared memory", roofline.shared_seconds),
        ("arithmetic", roofline.arithmetic_seconds),
        ("latency, one request per warp", roofline.latency_seconds),
    ]
}

/// The names of [`cells`].
pub(crate) const COLUMNS: [&str; 5] = ["requests", "lanes", "sectors", "useful", "bank conflicts"];

/// The cost of some requests.
pub(crate) fn cells(tally: &Tally) -> [String; COLUMNS.len()] {
    let has_global = tally.global.requests > 0;
    let has_shared = tally.shared.requests > 0;
    let when = |present: bool, text: String| if present { text } else { String::new() };
    [
        grouped(tally.requests),
        percent(tally.branch_efficiency()),
        when(has_global, grouped(tally.global.sectors)),
        percent(tally.global.sector_efficiency()),
        when(has_shared, conflicts(tally)),
    ]
}

fn conflicts(tally: &Tally) -> String {
    format!(
        "{} of {} passes",
        grouped(tally.shared.conflicts()),
        grouped(tally.shared.wavefronts)
    )
}

/// The advice as a clause. The techniques have the names of table 6.1 of Hwu,
/// Kirk and El Hajj, "Programming Massively Parallel Processors".
pub(crate) fn advice(advice: Advice) -> String {
    let text = match advice {
        Advice::RaiseOccupancy => {
            "raise the occupancy, or keep more loads in flight in each thread"
        }
        Advice::FillDevice {
            blocks,
            multiprocessors,
        } => {
            return format!(
                "raise the occupancy: {blocks} blocks for {multiprocessors} multiprocessors; use \
                 more and smaller blocks, or less thread coarsening"
            );
        }
        Advice::CoalesceAccesses { sector_efficiency } => {
            return format!(
                "coalesce global accesses: lanes request {:.0} % of the transferred bytes",
                100.0 * sector_efficiency
            );
        }
        Advice::ReduceDivergence { branch_efficiency } => {
            return format!(
                "reduce control divergence: {:.0} % of the lanes take part in arithmetic",
                100.0 * branch_efficiency
            );
        }
        Advice::TileReusedData => "tile reused data: threads read the same data again",
        Advice::Privatise => "privatise: most requests are atomic updates",
        Advice::CoarsenBlocks => "coarsen threads: blocks read the same data again",
        Advice::CoarsenThreads => {
            "coarsen threads: let an element of shared memory serve several outputs from registers"
        }
        Advice::AvoidBankConflicts { lost_passes } => {
            return format!(
                "avoid bank conflicts, which cause {:.0} % of the passes: pad the rows or permute \
                 the columns",
                100.0 * lost_passes
            );
        }
        Advice::EnlargeLaunch => {
            "give the launch more work: starting it takes longer than the work"
        }
        Advice::MoveFewerBytes => "move fewer bytes: each one already moves once",
        Advice::DoFewerOperations => {
            "do fewer operations, or use tensor cores: the floating-point units are busy"
        }
        _ => "unknown to this version of the report",
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::{duration, grouped};

    #[test]
    fn digits_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration(2e-7), "200.0ns");
        assert_eq!(duration(1.25e-5), "12.5µs");
        assert_eq!(duration(f64::NAN), "unknown");
    }
}

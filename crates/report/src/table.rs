//! The report as a table for the terminal.

use crate::advice::advice;
use crate::columns::{Row, aligned, fits, shortened, wrapped};
use crate::source::files;
use crate::text::{COLUMNS, Numbers, cells, duration, estimate, facts, instruction_mix, times};
use tilewright::{KernelReport, LaunchReport, SourceLine};

/// The report as text for the terminal.
///
/// For each kernel and launch shape it has the facts, the bottleneck, an estimated time, the instructions, and the
/// costs of each source line with its share of that time.
#[must_use]
pub fn table(report: &LaunchReport) -> String {
    table_within(report, usize::MAX)
}

/// [`table`] for a terminal with `columns` columns, 80 or more.
///
/// Text is wrapped. Numbers are shortened (`1.05 M`) if the costs of lines would be too wide.
#[must_use]
pub fn table_within(report: &LaunchReport, columns: usize) -> String {
    if report.launches.is_empty() {
        return "no kernel was launched\n".to_owned();
    }
    let kernels = report.by_kernel();
    kernels.iter().map(|it| kernel(it, columns)).collect()
}

fn kernel(report: &KernelReport, columns: usize) -> String {
    let roofline = report.roofline();
    let times = times(&roofline).map(|(name, seconds)| format!("{name} {}", duration(seconds)));
    let text = |text: &str| wrapped(text, columns);
    format!(
        "{} on {}\n{}\n bottleneck: {}\n{}{}{}{}\n{}\n",
        report.kernel,
        report.profile.datasheet().name,
        fact_lines(report, columns),
        roofline.bottleneck,
        text(&advice(report.advice())),
        text(&format!("at least: {}", times.join("; "))),
        text(&estimate(report)),
        text(&format!("instructions: {}", instruction_mix(report))),
        source_lines(report, columns)
    )
}

/// The facts, with names in one column and values in the other.
fn fact_lines(report: &KernelReport, columns: usize) -> String {
    const NAMES: usize = 25;
    let mut lines = String::new();
    for (name, value) in facts(report) {
        let value = wrapped(&value, columns.saturating_sub(NAMES));
        for (index, part) in value.lines().enumerate() {
            let name = if index == 0 { name } else { "" };
            lines += &format!(" {name:<width$} {}\n", part.trim(), width = NAMES - 2);
        }
    }
    lines
}

/// The counted lines of the source, each above its operations.
fn source_lines(report: &KernelReport, columns: usize) -> String {
    let text = |numbers| aligned(&rows(report, columns, numbers));
    let whole = text(Numbers::Whole);
    match fits(&whole, columns) {
        true => whole,
        false => text(Numbers::Short),
    }
}

fn rows(report: &KernelReport, columns: usize, numbers: Numbers) -> Vec<Row> {
    let head = ["line, instruction"].into_iter().chain(COLUMNS);
    let mut rows = vec![Row::Cells(head.map(|name| format!(" {name}")).collect())];
    let instructions = report.instructions();
    for file in files(report) {
        for line in file.lines.values() {
            rows.push(Row::Heading(heading(line, columns)));
            for operation in line.operations.keys() {
                let name = format!("   {operation}");
                let cells = cells(line, *operation, instructions, numbers);
                rows.push(Row::Cells([name].into_iter().chain(cells).collect()));
            }
        }
    }
    rows
}

/// The line's place, and its part of the estimated time.
fn heading(line: &SourceLine, columns: usize) -> String {
    let estimate = line.estimate.map_or_else(String::new, |estimate| {
        let percent = 100.0 * estimate.share;
        format!(": {percent:.1} % of the time, by {}", estimate.bound)
    });
    let place = format!("{}:{}", line.file, line.line);
    let room = columns.saturating_sub(1 + estimate.chars().count());
    format!(" {}{estimate}", shortened(&place, room))
}

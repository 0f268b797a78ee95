//! The report as a table for the terminal.

use crate::source::annotate;
use crate::text::{COLUMNS, advice, cells, duration, facts, percent, times};
use comfy_table::{CellAlignment, Table, presets};
use tilewright::{KernelReport, LaunchReport};

/// The report as text: for each kernel and shape of launch its facts, its bottleneck, and the costs
/// of each source line.
#[must_use]
pub fn table(report: &LaunchReport) -> String {
    if report.launches.is_empty() {
        return "no kernel was launched\n".to_owned();
    }
    report.by_kernel().iter().map(kernel).collect()
}

fn kernel(report: &KernelReport) -> String {
    let roofline = report.roofline();
    let times = times(&roofline).map(|(name, seconds)| format!("{name} {}", duration(seconds)));
    format!(
        "{} on {}\n{}\n bottleneck: {}\n   {}\n   at least: {}\n{}\n",
        report.kernel,
        report.profile.datasheet().name,
        fact_table(report),
        roofline.bottleneck,
        advice(report.advice()),
        times.join("; "),
        line_table(report)
    )
}

fn fact_table(report: &KernelReport) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for (name, value) in facts(report) {
        table.add_row([name.to_owned(), value]);
    }
    table.trim_fmt()
}

fn line_table(report: &KernelReport) -> String {
    let head = ["line", "operation"].into_iter().chain(COLUMNS);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(head.chain(["cost"]));
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for file in annotate(report) {
        for (number, line) in &file.lines {
            let mut place = format!("{}:{number}", file.path);
            let mut cost = percent(Some(line.share));
            for (operation, tally) in &line.operations {
                // A line's place and cost stand beside its first operation.
                let mut row = vec![std::mem::take(&mut place), operation.to_string()];
                row.extend(cells(tally));
                row.push(std::mem::take(&mut cost));
                table.add_row(row);
            }
        }
    }
    table.trim_fmt()
}

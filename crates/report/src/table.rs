//! The report as a table for the terminal.

use crate::source::annotate;
use crate::text::{COLUMNS, advice, cells, duration, facts, percent, times};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use tilewright::{KernelReport, LaunchReport};

/// The report as text: for each kernel and shape of launch its facts, its bottleneck, and the costs
/// of each source line. The tables are as wide as their contents.
#[must_use]
pub fn table(report: &LaunchReport) -> String {
    table_within(report, usize::MAX)
}

/// [`table`] for a terminal with `columns` columns: cells of the tables are broken into lines.
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
    format!(
        "{} on {}\n{}\n bottleneck: {}\n{}{}{}\n",
        report.kernel,
        report.profile.datasheet().name,
        fact_table(report, columns),
        roofline.bottleneck,
        wrapped(&advice(report.advice()), columns),
        wrapped(&format!("at least: {}", times.join("; ")), columns),
        line_table(report, columns)
    )
}

/// The words in indented lines of at most `columns` characters, where no word is longer.
fn wrapped(text: &str, columns: usize) -> String {
    const INDENT: &str = "  ";
    let mut lines = String::new();
    let mut line = INDENT.to_owned();
    for word in text.split(' ') {
        let length = line.chars().count() + 1 + word.chars().count();
        if length > columns && line != INDENT {
            lines += &line;
            lines.push('\n');
            line = format!("{INDENT}  ");
        }
        line = format!("{line} {word}");
    }
    lines + &line + "\n"
}

/// An empty table without rules, at most `columns` wide.
fn plain_table(columns: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    if let Ok(columns) = u16::try_from(columns) {
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(columns);
    }
    table
}

fn fact_table(report: &KernelReport, columns: usize) -> String {
    let mut table = plain_table(columns);
    for (name, value) in facts(report) {
        table.add_row([name.to_owned(), value]);
    }
    table.trim_fmt()
}

fn line_table(report: &KernelReport, columns: usize) -> String {
    let head = ["line", "operation"].into_iter().chain(COLUMNS);
    let mut table = plain_table(columns);
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

//! The report as an HTML page: the kernels' source lines with their costs beside them.

use crate::advice::advice;
use crate::source::{SourceFile, files};
use crate::text::{COLUMNS, Numbers, cells, duration, estimate, facts, instruction_mix, times};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use tilewright::{KernelReport, LaunchReport, Roofline, SourceLine};

/// The number of lines shown around each counted one.
const CONTEXT: u32 = 3;

/// A line with at least this share of the estimated time is hot.
const HOT: f64 = 0.25;
/// A line with at least this share of the estimated time is warm.
const WARM: f64 = 0.05;

/// The efficiency below which a cell is marked as a loss.
const LOSSY: f64 = 0.8;

const STYLE: &str = include_str!("report.css");

/// The report as one HTML page that needs no other file.
///
/// For each kernel it shows the facts, the least time of each part of the device, and the source with the cost of
/// each line. Costly lines are marked. The page follows the reader's light or dark mode.
///
/// Source files are read from their paths at compilation. Without them, the page has line numbers only.
#[must_use]
pub fn html(report: &LaunchReport) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "Launch report" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 {
                    "Launch report "
                    small { "simulated; times are for " (report.profile.datasheet().name) }
                }
                @for kernel in report.by_kernel() { (section(&kernel)) }
            }
        }
    };
    page.into_string()
}

fn section(report: &KernelReport) -> Markup {
    let roofline = report.roofline();
    let instructions = report.instructions();
    html! {
        section {
            h2 { (report.kernel) }
            p.verdict {
                strong { "Bottleneck: " (roofline.bottleneck) "." }
                " " (capitalised(&advice(report.advice()))) "."
            }
            div.columns {
                dl {
                    @for (name, value) in facts(report) {
                        div { dt { (name) } dd { (value) } }
                    }
                }
                (bars(&roofline))
            }
            p { (capitalised(&estimate(report))) "." }
            p { "Instructions: " (instruction_mix(report)) "." }
            @for file in files(report) { (source(&file, instructions)) }
        }
    }
}

/// The least times as bars. The longest has full width.
fn bars(roofline: &Roofline) -> Markup {
    let times = times(roofline);
    let longest = times.map(|(_, seconds)| seconds).into_iter();
    let longest = longest.fold(f64::MIN_POSITIVE, f64::max);
    html! {
        table.bars {
            caption { "least time of one launch" }
            @for (name, seconds) in times {
                tr {
                    th { (name) }
                    td.bar { span style=(format!("width:{:.1}%", 100.0 * seconds / longest)) {} }
                    td { (duration(seconds)) }
                }
            }
        }
    }
}

/// A file's counted lines, with some lines around them.
fn source(file: &SourceFile, instructions: u64) -> Markup {
    let text = file.read();
    let numbers = shown_lines(file, text.as_deref());
    let previous = [None].into_iter().chain(numbers.iter().copied().map(Some));
    html! {
        h3 { (file.path) }
        div.scroll {
            table.source {
                thead {
                    tr {
                        @for name in ["line", "time", "source", "instruction"] { th { (name) } }
                        @for name in COLUMNS { th { (name) } }
                    }
                }
                tbody {
                    @for (number, previous) in numbers.iter().copied().zip(previous) {
                        @if previous.is_some_and(|previous| number > previous + 1) {
                            tr.gap { td { "⋮" } td colspan=(COLUMNS.len() + 3) {} }
                        }
                        (row(file.lines.get(&number), number, text.as_deref(), instructions))
                    }
                }
            }
        }
    }
}

/// The numbers of the lines to show. Without the text, only counted lines are shown.
fn shown_lines(file: &SourceFile, text: Option<&[String]>) -> Vec<u32> {
    let Some(text) = text else {
        return file.lines.keys().copied().collect();
    };
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let is_near = |number: &u32| {
        let near = number.saturating_sub(CONTEXT)..=number.saturating_add(CONTEXT);
        file.lines.range(near).next().is_some()
    };
    (1..=end).filter(is_near).collect()
}

fn row(
    line: Option<&SourceLine>,
    number: u32,
    text: Option<&[String]>,
    instructions: u64,
) -> Markup {
    let text = text
        .and_then(|text| text.get(number as usize - 1))
        .map_or("", String::as_str);
    let Some(line) = line else {
        return html! {
            tr { td { (number) } td {} td { code { (text) } } td colspan=(COLUMNS.len() + 1) {} }
        };
    };
    let heat = match line.estimate.map(|it| it.share) {
        Some(share) if share >= HOT => "counted hot",
        Some(share) if share >= WARM => "counted warm",
        _ => "counted",
    };
    html! {
        tr class=(heat) {
            td { (number) }
            td { (time(line)) }
            td { code { (text) } }
            (operations(line, instructions))
        }
    }
}

/// The line's part of the estimated time, and the part of the device that bounds it.
fn time(line: &SourceLine) -> Markup {
    html! {
        @if let Some(estimate) = line.estimate {
            (format!("{:.1} %", 100.0 * estimate.share))
            " " small { (estimate.bound) }
        }
    }
}

/// The cells of a line's operations, stacked.
fn operations(line: &SourceLine, instructions: u64) -> Markup {
    let cells = |operation| cells(line, operation, instructions, Numbers::Whole);
    let rows: Vec<_> = line.operations.keys().copied().map(cells).collect();
    let names = line.operations.keys();
    html! {
        td.operation { @for name in names { (name) br; } }
        @for column in 0..COLUMNS.len() {
            td.lossy[is_lossy(line, column)] { @for row in &rows { (row[column]) br; } }
        }
    }
}

/// Whether a cell shows a loss: idle lanes, unused bytes, bank conflicts.
fn is_lossy(line: &SourceLine, column: usize) -> bool {
    let total = line.total();
    let is_low = |share: Option<f64>| share.is_some_and(|share| share < LOSSY);
    match COLUMNS[column] {
        "lanes" => is_low(total.branch_efficiency()),
        "useful" => is_low(total.global.sector_efficiency()),
        "lost" => total.shared.conflicts() > 0,
        _ => false,
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

//! The report as a page: the kernels' source lines with their costs beside them.

use super::source::{SourceFile, SourceLine, annotate};
use super::table::{cells, duration, facts, times};
use super::{KernelReport, LaunchReport};
use std::fmt::Write as _;

/// Lines that are shown around each counted one.
const CONTEXT: u32 = 3;

/// From this share of the kernel's cost on, a line is costly; from the first on, it is hot.
const HOT: f64 = 0.25;
const WARM: f64 = 0.05;

const STYLE: &str = include_str!("report.css");

const HEAD: [&str; 9] = [
    "line",
    "cost",
    "source",
    "operation",
    "requests",
    "lanes",
    "sectors",
    "useful",
    "bank conflicts",
];

impl LaunchReport {
    /// The report as one HTML page that needs no other file: for each kernel its facts, the least
    /// times of the device's parts, and its source with the costs of each line. Costly lines are
    /// marked. It follows the reader's choice of a light or a dark page.
    ///
    /// Source files are read where they were when the kernel was compiled; where there are none,
    /// the page has line numbers only.
    #[must_use]
    pub fn to_html(&self) -> String {
        let kernels: String = self.by_kernel().iter().map(kernel).collect();
        let device = escaped(self.profile.datasheet().name);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <title>Launch report</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <h1>Launch report <small>simulated, reckoned for {device}</small></h1>\n\
             {kernels}</body>\n</html>\n"
        )
    }
}

fn kernel(report: &KernelReport) -> String {
    let roofline = report.roofline();
    let sheet = report.profile.datasheet();
    let mut page = format!("<section>\n<h2>{}</h2>\n", escaped(&report.kernel));
    let _ = writeln!(
        page,
        "<p class=\"verdict\"><strong>Bottleneck: {}.</strong> {}.</p>",
        roofline.bottleneck,
        escaped(&capitalised(&roofline.advice))
    );
    page.push_str("<div class=\"columns\">\n<dl>\n");
    for (name, value) in facts(report) {
        let _ = writeln!(
            page,
            "<div><dt>{name}</dt><dd>{}</dd></div>",
            escaped(&value)
        );
    }
    page.push_str("</dl>\n");
    page.push_str(&bars(&times(&roofline)));
    page.push_str("</div>\n");
    for file in annotate(&report.counts.lines, &sheet) {
        page.push_str(&source(&file));
    }
    page.push_str("</section>\n");
    page
}

/// The least times as bars, the longest over the full width.
fn bars(times: &[(&str, f64)]) -> String {
    let longest = times
        .iter()
        .map(|(_, seconds)| *seconds)
        .fold(f64::MIN_POSITIVE, f64::max);
    let mut page =
        String::from("<table class=\"bars\">\n<caption>least time of one launch</caption>\n");
    for (name, seconds) in times {
        let _ = writeln!(
            page,
            "<tr><th>{name}</th><td class=\"bar\"><span style=\"width:{:.1}%\"></span></td><td>{}</td></tr>",
            100.0 * seconds / longest,
            duration(*seconds)
        );
    }
    page.push_str("</table>\n");
    page
}

/// A file's counted lines with some around them.
fn source(file: &SourceFile) -> String {
    let mut page = format!(
        "<h3>{}</h3>\n<div class=\"scroll\"><table class=\"source\">\n<thead><tr>",
        escaped(&file.path)
    );
    for name in HEAD {
        let _ = write!(page, "<th>{name}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    let mut last = None;
    for number in shown_lines(file) {
        if last.is_some_and(|last| number > last + 1) {
            page.push_str("<tr class=\"gap\"><td>⋮</td><td colspan=\"8\"></td></tr>\n");
        }
        page.push_str(&row(file, number));
        last = Some(number);
    }
    page.push_str("</tbody>\n</table></div>\n");
    page
}

/// The numbers of the lines to show.
fn shown_lines(file: &SourceFile) -> impl Iterator<Item = u32> + use<'_> {
    let text_lines = file
        .text
        .as_ref()
        .map(|text| u32::try_from(text.len()).unwrap_or(u32::MAX));
    let first = file.lines.keys().next().copied().unwrap_or(1);
    let last = file.lines.keys().next_back().copied().unwrap_or(0);
    let end = text_lines.unwrap_or(last);
    (first.saturating_sub(CONTEXT).max(1)..=last.saturating_add(CONTEXT).min(end)).filter(
        move |number| {
            let context = if text_lines.is_some() { CONTEXT } else { 0 };
            let around = number.saturating_sub(context)..=number.saturating_add(context);
            file.lines.range(around).next().is_some()
        },
    )
}

fn row(file: &SourceFile, number: u32) -> String {
    let text = file
        .text
        .as_ref()
        .and_then(|text| text.get(number as usize - 1));
    let text = escaped(text.map_or("", String::as_str));
    let Some(line) = file.lines.get(&number) else {
        return format!(
            "<tr><td>{number}</td><td></td><td><code>{text}</code></td><td colspan=\"6\"></td></tr>\n"
        );
    };
    let heat = match line.share {
        share if share >= HOT => "counted hot",
        share if share >= WARM => "counted warm",
        _ => "counted",
    };
    format!(
        "<tr class=\"{heat}\"><td>{number}</td><td>{:.1} %</td><td><code>{text}</code></td>{}</tr>\n",
        100.0 * line.share,
        operations(line)
    )
}

/// The cells of a line's operations, one below the other.
fn operations(line: &SourceLine) -> String {
    let rows: Vec<(String, [String; 5])> = line
        .operations
        .iter()
        .map(|(operation, tally)| (operation.to_string(), cells(tally)))
        .collect();
    let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
    let mut page = format!("<td class=\"operation\">{}</td>", names.join("<br>"));
    for column in 0..5 {
        let values: Vec<&str> = rows
            .iter()
            .map(|(_, cells)| cells[column].as_str())
            .collect();
        let _ = write!(
            page,
            "<td{}>{}</td>",
            warning(line, column),
            values.join("<br>")
        );
    }
    page
}

/// The mark of a cell that shows a loss: idle lanes, useless bytes, bank conflicts.
fn warning(line: &SourceLine, column: usize) -> &'static str {
    let total = line.total();
    let is_low = |part: Option<f64>| part.is_some_and(|part| part < 0.8);
    let is_lossy = match column {
        1 => is_low(total.branch_efficiency()),
        3 => is_low(total.global.sector_efficiency()),
        4 => total.shared.conflicts() > 0,
        _ => false,
    };
    if is_lossy { " class=\"lossy\"" } else { "" }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}

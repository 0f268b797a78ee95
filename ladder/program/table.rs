//! A run as text: for a terminal, with a bar for each step, or as Markdown.

use super::page::{Counts, Page, Row, Section};
use crate::support::output::{columns, style};
use std::fmt::Write as _;

/// Length of the longest bar, in characters.
const BAR: f64 = 28.0;

/// The columns of the counters.
const COUNTERS: [&str; 9] = [
    "requests",
    "sectors",
    "sector eff.",
    "line eff.",
    "bank ways",
    "lanes",
    "barriers",
    "shuffles",
    "atomics",
];

/// The page for a terminal with `width` columns.
pub fn terminal(page: &Page, width: usize) -> String {
    let mut text = format!("{}\n", style(page.title).bold());
    match (&page.device, &page.driver) {
        (Some(device), Some(driver)) => _ = writeln!(text, "{device}, CUDA {driver}"),
        _ => _ = writeln!(text, "counted by the simulator; times need --device cuda"),
    }
    for section in &page.sections {
        let _ = writeln!(text, "\n{}", style(&section.title).bold());
        if page.is_timed() {
            let _ = writeln!(text, "counters: {}", section.counted);
        }
        text += &columns(&with_bars(page, section), width);
        if let Some(matrix) = matrix(page, section) {
            let _ = write!(
                text,
                "\nmicroseconds by {}\n{}",
                section.parameter,
                columns(&matrix, width)
            );
        }
    }
    text
}

/// The page as Markdown tables.
pub fn markdown(page: &Page) -> String {
    let mut text = String::new();
    for section in &page.sections {
        let _ = write!(
            text,
            "### {}\n\n{}\n",
            section.title,
            piped(&steps(page, section))
        );
        if let Some(matrix) = matrix(page, section) {
            let _ = write!(
                text,
                "Microseconds by {}:\n\n{}\n",
                section.parameter,
                piped(&matrix)
            );
        }
    }
    text
}

/// A line for each step, with its best parameter.
pub fn steps(page: &Page, section: &Section) -> Vec<Vec<String>> {
    let rows = section.best_rows();
    let mut head = vec!["step".to_owned()];
    if !section.parameter.is_empty() {
        head.push(section.parameter.to_owned());
    }
    if page.is_timed() {
        head.extend(["us", section.unit, "speed-up"].map(str::to_owned));
    }
    head.extend(COUNTERS.map(str::to_owned));
    let mut lines = vec![head];
    for row in rows {
        let mut line = vec![row.step.clone()];
        if !section.parameter.is_empty() {
            line.push(
                row.parameter
                    .map(|value| value.to_string())
                    .unwrap_or_default(),
            );
        }
        if page.is_timed() {
            line.push(number(row.microseconds));
            line.push(number(row.rate));
            line.push(
                section
                    .speed_up(row)
                    .map(|times| format!("{times:.2}"))
                    .unwrap_or_default(),
            );
        }
        line.extend(counters(row.counts.as_ref()));
        lines.push(line);
    }
    lines
}

/// [`steps`] with a bar for each step.
fn with_bars(page: &Page, section: &Section) -> Vec<Vec<String>> {
    let rows = section.best_rows();
    let measures = rows.iter().map(|row| measure(page, row).unwrap_or(0.0));
    let longest = measures.clone().fold(0.0, f64::max);
    let head = match page.is_timed() {
        true => section.unit,
        false => "global sectors",
    };
    let bars = measures.map(|measure| bar(measure, longest));
    let mut lines = steps(page, section);
    for (line, bar) in lines
        .iter_mut()
        .zip([head.to_owned()].into_iter().chain(bars))
    {
        line.push(bar);
    }
    lines
}

/// The value of a step's bar: the rate or, without times, the sectors moved.
fn measure(page: &Page, row: &Row) -> Option<f64> {
    if page.is_timed() {
        return row.rate;
    }
    row.counts.as_ref().map(|counts| counts.sectors as f64)
}

/// A table of microseconds by step and parameter, if there are times and several parameters.
pub fn matrix(page: &Page, section: &Section) -> Option<Vec<Vec<String>>> {
    let parameters = section.parameters();
    if !page.is_timed() || parameters.len() < 2 {
        return None;
    }
    let mut head = vec!["step".to_owned()];
    head.extend(parameters.iter().map(u32::to_string));
    let mut lines = vec![head];
    for (step, rows) in section.steps() {
        if rows.iter().all(|row| row.parameter.is_none()) {
            continue;
        }
        let mut line = vec![step.to_owned()];
        line.extend(parameters.iter().map(|&parameter| {
            let row = rows.iter().find(|row| row.parameter == Some(parameter));
            number(row.and_then(|row| row.microseconds))
        }));
        lines.push(line);
    }
    Some(lines)
}

fn counters(counts: Option<&Counts>) -> Vec<String> {
    let Some(counts) = counts else {
        return vec![String::new(); COUNTERS.len()];
    };
    vec![
        counts.global_requests.to_string(),
        counts.sectors.to_string(),
        percent(counts.sector_efficiency),
        percent(counts.line_efficiency),
        counts
            .conflict_ways
            .map(|ways| format!("{ways:.2}"))
            .unwrap_or_default(),
        percent(counts.branch_efficiency),
        counts.barriers.to_string(),
        counts.shuffles.to_string(),
        counts.atomics.to_string(),
    ]
}

fn percent(part: Option<f64>) -> String {
    part.map(|part| format!("{:.1} %", part * 100.0))
        .unwrap_or_default()
}

/// Four significant digits, without trailing decimals.
fn number(value: Option<f64>) -> String {
    let Some(value) = value else {
        return String::new();
    };
    let digits = (3 - value.abs().max(1.0).log10() as i32).clamp(0, 3) as usize;
    format!("{value:.digits$}")
}

fn bar(value: f64, longest: f64) -> String {
    if longest == 0.0 {
        return String::new();
    }
    "\u{2588}".repeat((value / longest * BAR).round() as usize)
}

/// A Markdown table, without columns that are empty.
fn piped(lines: &[Vec<String>]) -> String {
    let is_empty = |column: usize| {
        let mut cells = lines.iter().skip(1).map(|line| line.get(column));
        cells.all(|cell| cell.is_none_or(String::is_empty))
    };
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let kept: Vec<&str> = (0..line.len())
            .filter(|&column| !is_empty(column))
            .map(|column| line[column].as_str())
            .collect();
        let _ = writeln!(text, "| {} |", kept.join(" | "));
        if number == 0 {
            let rule: Vec<&str> = (0..kept.len())
                .map(|column| if column == 0 { "---" } else { "---:" })
                .collect();
            let _ = writeln!(text, "|{}|", rule.join("|"));
        }
    }
    text
}

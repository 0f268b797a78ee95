//! A run as text: for the terminal, with a bar for each step, and as Markdown.

use super::page::{Counts, Page, Row, Section};
use std::fmt::Write as _;

/// Characters of the longest bar.
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

/// The page for a terminal.
pub fn terminal(page: &Page) -> String {
    let mut text = format!("{}\n", page.title);
    match (&page.device, &page.driver) {
        (Some(device), Some(driver)) => _ = writeln!(text, "{device}, CUDA {driver}"),
        _ => _ = writeln!(text, "counted by the simulator; times need --device cuda"),
    }
    for section in &page.sections {
        let _ = write!(
            text,
            "\n{}\n{}",
            section.title,
            aligned(&steps(page, section))
        );
        if let Some(matrix) = matrix(page, section) {
            let _ = write!(
                text,
                "\nmicroseconds by {}\n{}",
                section.parameter,
                aligned(&matrix)
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
        head.extend(["us", section.unit, "speed-up", ""].map(str::to_owned));
    }
    head.extend(COUNTERS.map(str::to_owned));
    if !page.is_timed() {
        head.push("global sectors".to_owned());
    }
    let longest = rows
        .iter()
        .filter_map(|row| measure(page, row))
        .fold(0.0, f64::max);
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
        let bar = bar(measure(page, row).unwrap_or(0.0), longest);
        if page.is_timed() {
            line.push(number(row.microseconds));
            line.push(number(row.rate));
            line.push(
                section
                    .speed_up(row)
                    .map(|times| format!("{times:.2}"))
                    .unwrap_or_default(),
            );
            line.push(bar);
            line.extend(counters(row.counts.as_ref()));
        } else {
            line.extend(counters(row.counts.as_ref()));
            line.push(bar);
        }
        lines.push(line);
    }
    lines
}

/// What a step's bar shows: the rate, or without times the sectors that it moves.
fn measure(page: &Page, row: &Row) -> Option<f64> {
    if page.is_timed() {
        return row.rate;
    }
    row.counts.as_ref().map(|counts| counts.sectors as f64)
}

/// Microseconds, steps down and parameters along, where there are times and several parameters.
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

/// Four digits, as far as there is something behind the point.
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

/// Columns of equal width; the first one, and bars, to the left.
fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                let to_the_left = column == 0 || cell.starts_with('\u{2588}');
                if to_the_left {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            });
        let line: Vec<String> = cells.collect();
        let _ = writeln!(text, "{}", line.join("  ").trim_end());
    }
    text
}

/// A Markdown table, without the bars.
fn piped(lines: &[Vec<String>]) -> String {
    let without_bars: Vec<Vec<String>> = lines
        .iter()
        .map(|line| {
            let cells = line
                .iter()
                .map(|cell| cell.trim_matches('\u{2588}').to_owned());
            cells.collect()
        })
        .collect();
    let is_empty = |column: usize| {
        without_bars
            .iter()
            .skip(1)
            .all(|line| line.get(column).is_none_or(String::is_empty))
    };
    let mut text = String::new();
    for (number, line) in without_bars.iter().enumerate() {
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

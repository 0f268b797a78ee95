//! Comparison of a report with an earlier one: the effect of a change to a kernel.

use crate::columns::{Row, aligned, shortened};
use crate::json;
use crate::moves::Moves;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use tilewright::LaunchReport;

/// The counters of a kernel: the name, the path in the kernel's JSON, and the factor to the unit.
const OF_KERNEL: [(&str, &str, f64); 14] = [
    ("estimated time, µs", "/estimated_seconds", 1e6),
    ("registers of a thread", "/registers", 1.0),
    ("occupancy, %", "/occupancy", 100.0),
    ("shared bytes of a block", "/shared_bytes", 1.0),
    ("requests", "/total/requests", 1.0),
    ("lanes of the requests", "/total/lanes", 1.0),
    ("sectors", "/total/global/sectors", 1.0),
    ("distinct sectors read", "/sectors_read", 1.0),
    ("distinct sectors written", "/sectors_written", 1.0),
    ("bytes requested, global", "/total/global/bytes_asked", 1.0),
    ("passes, shared", "/total/shared/wavefronts", 1.0),
    ("bank conflicts", "/total/shared/bank_conflicts", 1.0),
    ("f32 operations", "/total/flops_f32", 1.0),
    ("f64 operations", "/total/flops_f64", 1.0),
];

/// The counters of a line's operation: the name, and the path in its tally.
const OF_LINE: [(&str, &str); 7] = [
    ("requests", "/requests"),
    ("lanes", "/lanes"),
    ("sectors", "/global/sectors"),
    ("passes", "/shared/wavefronts"),
    ("bank conflicts", "/shared/bank_conflicts"),
    ("f32 operations", "/flops_f32"),
    ("f64 operations", "/flops_f64"),
];

/// A line of a source, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    /// In the present text.
    Now(u64),
    /// In the earlier text; it no longer exists.
    Gone(u64),
}

/// The counters of each source line, by name.
type Lines = BTreeMap<(String, Line), BTreeMap<String, f64>>;

/// Compares the costs of the kernels in `report` with those in `baseline`, a report as [`json`] wrote it.
///
/// For each kernel there are its counters and its estimated time, before and after, with the change in percent. Then
/// come the counters that differ, by source line. Lines have at most `columns` characters, from 80 on, unless counts
/// have more than 12 digits.
///
/// Kernels with the same name are compared, in order. A single kernel is compared with a single one of another name.
/// Source lines are matched by their text, so that a line that has moved is compared with itself. If a source could
/// not be read, they are matched by number.
///
/// # Errors
/// `baseline` is not such JSON, or is from another device.
pub fn comparison(baseline: &str, report: &LaunchReport, columns: usize) -> Result<String, String> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).map_err(|it| it.to_string());
    let (before, after) = (parse(baseline)?, parse(&json(report))?);
    let kernels = before["kernels"].as_array();
    let old = kernels.ok_or("the baseline is no report as JSON: it has no `kernels`")?;
    if before["profile"] != after["profile"] {
        let (old, new) = (&before["profile"], &after["profile"]);
        return Err(format!(
            "the baseline is of the profile {old}, the report of {new}"
        ));
    }
    let moves = Moves::between(&before["sources"], &after["sources"]);
    let new = after["kernels"].as_array().map_or(&[][..], Vec::as_slice);
    let mut rest: Vec<&Value> = old.iter().collect();
    let mut text = String::new();
    for kernel in new {
        let is_same = |it: &&Value| it["kernel"] == kernel["kernel"];
        let single = old.len() == 1 && new.len() == 1;
        text += &match rest.iter().position(|it| single || is_same(it)) {
            Some(index) => compared(rest.remove(index), kernel, &moves, columns),
            None => format!("{}: not in the baseline\n\n", name(kernel)),
        };
    }
    for kernel in rest {
        text += &format!("{}: in the baseline alone\n\n", name(kernel));
    }
    Ok(text)
}

fn name(kernel: &Value) -> &str {
    kernel["kernel"].as_str().unwrap_or("a kernel")
}

fn compared(before: &Value, after: &Value, moves: &Moves, columns: usize) -> String {
    let title = match name(before) == name(after) {
        true => name(after).to_owned(),
        false => format!("{}, before: {}", name(after), name(before)),
    };
    let mut rows = vec![cells(" counter", "before", "after", "change")];
    for (counter, path, factor) in OF_KERNEL {
        let value = |kernel: &Value| Some(kernel.pointer(path)?.as_f64()? * factor);
        rows.extend(row(counter, value(before), value(after), true));
    }
    let (old, new) = (
        lines(before, |file, line| moves.now(file, line)),
        lines(after, |_, line| Some(line)),
    );
    let places: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let mut unchanged = 0;
    for place in places {
        let (was, is) = (old.get(place), new.get(place));
        let differing = differing(was, is);
        if differing.is_empty() {
            unchanged += 1;
            continue;
        }
        let note = match (was, is) {
            (None, _) => " (new)",
            (_, None) => " (gone)",
            _ => "",
        };
        let (Line::Now(number) | Line::Gone(number)) = place.1;
        let place = shortened(
            &format!("{}:{number}{note}", place.0),
            columns.saturating_sub(1),
        );
        rows.push(Row::Heading(format!(" {place}")));
        rows.extend(differing);
    }
    let rows = aligned(&rows);
    format!("{title}\n{rows} {unchanged} counted lines of the source cost the same\n\n")
}

fn differing(
    before: Option<&BTreeMap<String, f64>>,
    after: Option<&BTreeMap<String, f64>>,
) -> Vec<Row> {
    let names: BTreeSet<_> = before
        .into_iter()
        .chain(after)
        .flat_map(BTreeMap::keys)
        .collect();
    let value = |line: Option<&BTreeMap<String, f64>>, name: &str| line?.get(name).copied();
    let rows = names.into_iter().filter_map(|name| {
        row(
            &format!("  {name}"),
            value(before, name),
            value(after, name),
            false,
        )
    });
    rows.collect()
}

/// The counters of a kernel's lines. `now` gives the present number of a line.
fn lines(kernel: &Value, now: impl Fn(&str, u64) -> Option<u64>) -> Lines {
    let mut lines = Lines::new();
    for line in kernel["lines"].as_array().into_iter().flatten() {
        let (Some(file), Some(number), Some(operation)) = (
            line["file"].as_str(),
            line["line"].as_u64(),
            line["operation"].as_str(),
        ) else {
            continue;
        };
        let place = (
            file.to_owned(),
            now(file, number).map_or(Line::Gone(number), Line::Now),
        );
        let counters = lines.entry(place).or_default();
        for (name, path) in OF_LINE {
            let count = line["tally"]
                .pointer(path)
                .and_then(Value::as_f64)
                .unwrap_or(0.0);
            *counters.entry(format!("{operation}: {name}")).or_default() += count;
        }
    }
    for line in kernel["source_lines"].as_array().into_iter().flatten() {
        let place = line["file"].as_str().zip(line["line"].as_u64());
        if let (Some((file, number)), Some(seconds)) = (place, line["estimated_seconds"].as_f64()) {
            let place = (
                file.to_owned(),
                now(file, number).map_or(Line::Gone(number), Line::Now),
            );
            let counters = lines.entry(place).or_default();
            *counters.entry(LINE_TIME.to_owned()).or_default() += 1e9 * seconds;
        }
    }
    lines
}

/// The name of a line's estimated time, among its counters.
const LINE_TIME: &str = "estimated time, ns";

/// A counter before and after; `None` if neither is known, or if they are equal, unless `always`.
fn row(counter: &str, before: Option<f64>, after: Option<f64>, always: bool) -> Option<Row> {
    let is_equal = before.unwrap_or(0.0) == after.unwrap_or(0.0);
    if (before, after) == (None, None) || (is_equal && !always) {
        return None;
    }
    let change = match (before, after) {
        (Some(before), Some(after)) if before == after => String::new(),
        (Some(before), Some(after)) if before != 0.0 => {
            format!("{:+.1} %", 100.0 * (after - before) / before)
        }
        (Some(_), Some(_)) => "new".to_owned(),
        _ => String::new(),
    };
    Some(cells(
        &format!(" {counter}"),
        &number(before),
        &number(after),
        &change,
    ))
}

fn number(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value.fract() == 0.0 => crate::text::grouped(value as u64),
        Some(value) => format!("{value:.2}"),
    }
}

fn cells(first: &str, before: &str, after: &str, change: &str) -> Row {
    Row::Cells([first, before, after, change].map(str::to_owned).to_vec())
}

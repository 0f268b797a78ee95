//! The contents of the tables.

use super::measured::{Found, Measured};
use super::panel::superscript;
use std::collections::{BTreeMap, BTreeSet};
use tilewright_output::figures::{Figure, Row, Unit};

/// A table that pages name, and its chart.
pub struct Block {
    pub name: &'static str,
    pub chart: Option<Chart>,
    /// The table; empty without rows.
    pub table: fn(&Measured) -> String,
}

/// The name of the chart of a table.
#[derive(Clone, Copy)]
pub enum Chart {
    /// The chart is above the table.
    Above(&'static str),
    /// The page shows it elsewhere.
    Elsewhere(&'static str),
}

/// The sort key of a table: its parts, and sizes within them.
type Key = (usize, usize, u64);

/// All tables.
pub const BLOCKS: [Block; 4] = [
    Block {
        name: "summary",
        chart: Some(Chart::Elsewhere("ratios")),
        table: |measured| against_rivals(measured, summary),
    },
    Block {
        name: "reductions",
        chart: Some(Chart::Above("reductions")),
        table: |measured| against_rivals(measured, reductions),
    },
    Block {
        name: "products",
        chart: Some(Chart::Above("products")),
        table: |measured| against_rivals(measured, products),
    },
    Block {
        name: "groups",
        chart: None,
        table: groups,
    },
];

/// The jobs of the summary, in its order.
const SUMMARY: [&str; 5] = [
    "sum f32 2^28",
    "rows f32 4194304x64",
    "product f32 4096, uniform [-1, 1)",
    "product f64 4096",
    "product bf16 4096, B by rows",
];

fn summary(found: &Found<'_>) -> Option<Key> {
    let name = found.row.name();
    let place = SUMMARY.iter().position(|it| *it == name)?;
    Some((place, 0, 0))
}

/// The works of `compare`, in the order of the table.
const REDUCTIONS: [&str; 17] = [
    "copy",
    "sum",
    "reproducible_sum",
    "min",
    "max",
    "min_max",
    "argmin",
    "argmax",
    "norm_2",
    "variance",
    "dot",
    "rows",
    "columns",
    "dot_rows",
    "dot_columns",
    "segments",
    "scan",
];

const TYPES: [&str; 10] = [
    "f32", "f64", "f16", "bf16", "i32", "u32", "i64", "u64", "i8", "e4m3",
];

fn reductions(found: &Found<'_>) -> Option<Key> {
    let row = found.row;
    let work = REDUCTIONS.iter().position(|it| *it == row.work)?;
    Some((work, type_place(&row.element), row.size?))
}

fn type_place(element: &str) -> usize {
    let place = TYPES.iter().position(|it| *it == element);
    place.unwrap_or(TYPES.len())
}

/// Square products with the kernels that `matmul` chooses, batches, and products with vectors.
fn products(found: &Found<'_>) -> Option<Key> {
    let row = found.row;
    let work = ["product", "batch", "matvec"];
    let work = work.iter().position(|it| *it == row.work)?;
    let is_selected = match row.work.as_str() {
        "product" => {
            row.size.is_some()
                && ["", "uniform [-1, 1)", "B by rows", "B by columns"]
                    .contains(&row.detail.as_str())
        }
        "batch" => row.detail.is_empty(),
        _ => true,
    };
    let is_by_columns = usize::from(row.detail.ends_with("columns"));
    let place = 2 * type_place(&row.element) + is_by_columns;
    is_selected.then_some((work, place, row.size.unwrap_or(0)))
}

/// The rows that `select` chooses, with a line below the table that states the figures' sources.
fn against_rivals(measured: &Measured, select: fn(&Found<'_>) -> Option<Key>) -> String {
    let mut rows: Vec<(Key, Found<'_>)> = measured
        .rows()
        .filter_map(|found| Some((select(&found)?, found)))
        .filter(|(_, found)| found.ours().is_some_and(|it| it.value.is_some()))
        .collect();
    rows.sort_by_key(|(key, _)| *key);
    let founds: Vec<Found<'_>> = rows.into_iter().map(|(_, found)| found).collect();
    let head = "| work | type | size | this library | fastest rival | rival's time / ours |\n\
                |---|---|---:|---:|---:|---:|\n";
    let value = |found: &Found<'_>, figure: &Figure| {
        let value = figure.value.unwrap_or(f64::NAN);
        value_text(value, found.row.unit)
    };
    let line = |found: &Found<'_>| {
        let rival = found.rival();
        let cached = match found.row.in_l2 {
            Some(true) => " (in L2)",
            _ => "",
        };
        format!(
            "| {} | {} | {}{cached} | {} | {} | {} |\n",
            work_text(found.row),
            found.row.element,
            shape_text(&found.row.shape),
            found
                .ours()
                .map_or(String::new(), |ours| value(found, ours)),
            rival.map_or(String::new(), |it| format!(
                "{} {}",
                it.name,
                value(found, it)
            )),
            found.ratio().map(ratio_text).unwrap_or_default(),
        )
    };
    with_sources(head, &founds, line)
}

/// All devices of a group against one device, and against torch.
fn groups(measured: &Measured) -> String {
    let founds: Vec<Found<'_>> = measured.rows_of_groups().collect();
    let head = "| work | type | size | one device | all | one / all | torch | torch / all |\n\
                |---|---|---:|---:|---:|---:|---:|---:|\n";
    let line = |found: &Found<'_>| {
        let row = found.row;
        let of = |name: &str| row.ours.iter().find(|it| it.name == name);
        let (all, one, torch) = (of("all"), of("one"), found.rival());
        let value = |figure: Option<&Figure>| {
            let value = figure.and_then(|it| it.value);
            value.map_or(String::new(), |value| value_text(value, row.unit))
        };
        let times = |other: Option<&Figure>| {
            let ratio = all
                .zip(other)
                .and_then(|(all, other)| row.ratio(all, other));
            ratio.map(ratio_text).unwrap_or_default()
        };
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            work_text(row),
            row.element,
            shape_text(&row.shape),
            value(one),
            value(all),
            times(one),
            value(torch),
            times(torch),
        )
    };
    with_sources(head, &founds, line)
}

fn with_sources(head: &str, founds: &[Found<'_>], line: impl Fn(&Found<'_>) -> String) -> String {
    if founds.is_empty() {
        return String::new();
    }
    let lines: String = founds.iter().map(line).collect();
    format!("{head}{lines}\n{}\n", sources(founds))
}

/// A row's job and details, in words.
fn work_text(row: &Row) -> String {
    let work = match row.work.as_str() {
        "reproducible_sum" => "reproducible sum",
        "min_max" => "minimum and maximum",
        "min" => "minimum",
        "max" => "maximum",
        "norm_2" => "2-norm",
        "dot" => "dot product",
        "rows" => "sums of rows",
        "columns" => "sums of columns",
        "dot_rows" => "dot products of rows",
        "dot_columns" => "dot products of columns",
        "segments" => "sums of segments",
        "scan" => "inclusive scan",
        "batch" => "batch of products",
        "matvec" => "matrix and vector",
        work => work,
    };
    match row.detail.as_str() {
        "" => work.to_owned(),
        detail => format!("{work}, {detail}"),
    }
}

/// A ratio with two decimals.
pub fn ratio_text(ratio: f64) -> String {
    format!("{ratio:.2}")
}

/// A value with its unit, and at least three digits.
pub fn value_text(value: f64, unit: Unit) -> String {
    let (value, symbol) = match unit {
        Unit::Seconds if value < 1e-3 => (value * 1e6, "us"),
        Unit::Seconds if value < 1.0 => (value * 1e3, "ms"),
        _ => (value, unit.symbol()),
    };
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {symbol}")
}

/// `2^28` as 2²⁸, and a cross between lengths.
fn shape_text(shape: &str) -> String {
    let mut text = String::new();
    let mut rest = shape;
    while let Some(at) = rest.find('^') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let digits = after.len()
            - after
                .trim_start_matches(|it: char| it.is_ascii_digit())
                .len();
        let exponent = after[..digits].parse().map(superscript);
        text += before;
        text += &exponent.unwrap_or_else(|_| "^".to_owned());
        rest = &after[digits..];
    }
    (text + rest).replace('x', " × ").replace("..", " to ")
}

/// The devices, drivers, rivals, dates and commits of rows, in a sentence for each device.
fn sources(founds: &[Found<'_>]) -> String {
    let mut devices = BTreeMap::<String, Vec<&Found<'_>>>::new();
    for found in founds {
        let driver = found.file.driver.as_deref().unwrap_or("unknown");
        let device = &found.file.device;
        let count = match device.count {
            1 => String::new(),
            count => format!("{count} x "),
        };
        let device = format!("{count}{}, driver for CUDA {driver}", device.name);
        devices.entry(device).or_default().push(found);
    }
    let sentences = devices.into_iter().map(|(device, founds)| {
        let versions = founds.iter().flat_map(|found| {
            let rivals = found.row.rivals.iter();
            rivals.map(|rival| match found.run.version_of(&rival.name) {
                Some(version) => format!("{} {version}", library(&rival.name)),
                None => library(&rival.name).to_owned(),
            })
        });
        let versions: BTreeSet<String> = versions.collect();
        let dates: BTreeSet<&str> = founds.iter().map(|it| it.run.date.as_str()).collect();
        let commits = founds.iter().map(|it| it.run.commit.as_deref());
        let commits: BTreeSet<&str> = commits.map(|it| it.unwrap_or("unknown")).collect();
        let dates = match (dates.first(), dates.last()) {
            (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
            (first, _) => first.unwrap_or(&"unknown").to_string(),
        };
        format!(
            "{device}; {}; measured {dates}, commit {}.",
            Vec::from_iter(versions).join(", "),
            Vec::from_iter(commits).join(" or ")
        )
    });
    Vec::from_iter(sentences).join(" ")
}

/// The library of a rival, whose name may include a method.
fn library(rival: &str) -> &str {
    rival.split(", ").next().unwrap_or(rival)
}

#[cfg(test)]
mod tests;

//! What the tables show.

use super::measured::{Found, Measured};
use super::panel::superscript;
use std::collections::{BTreeMap, BTreeSet};
use tilewright_output::figures::{Figure, Unit};

/// A table that pages name, and the chart above it.
pub struct Block {
    pub name: &'static str,
    /// The name of a chart; it stands above the table if `shows_chart`, and elsewhere on the page otherwise.
    pub chart: &'static str,
    pub shows_chart: bool,
    select: fn(&Found<'_>) -> Option<Key>,
}

/// What a table is sorted by: its parts, and sizes within them.
type Key = (usize, usize, u64);

/// All tables.
pub const BLOCKS: [Block; 3] = [
    Block {
        name: "summary",
        chart: "ratios",
        shows_chart: false,
        select: summary,
    },
    Block {
        name: "reductions",
        chart: "reductions",
        shows_chart: true,
        select: reductions,
    },
    Block {
        name: "products",
        chart: "products",
        shows_chart: true,
        select: products,
    },
];

/// The jobs of the summary, in its order.
const SUMMARY: [&str; 14] = [
    "sum f32 2^20",
    "sum f32 2^28",
    "reproducible_sum f32 2^28",
    "scan f32 2^28",
    "rows f32 16384x16384",
    "rows f32 4194304x64",
    "columns f32 4194304x64",
    "segments f32 10^6x0..64",
    "product f32 1024, uniform [-1, 1)",
    "product f32 4096, uniform [-1, 1)",
    "product f64 4096",
    "product bf16 4096, B by rows",
    "product e4m3 8192, B by columns",
    "batch f32 1000 of 64",
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

/// Square products by the kernels that `matmul` chooses, batches, and products with vectors.
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

impl Block {
    /// The table, with a line below it that says where its figures come from; nothing without rows.
    pub fn table(&self, measured: &Measured) -> String {
        let mut rows: Vec<(Key, Found<'_>)> = measured
            .rows()
            .filter_map(|found| Some(((self.select)(&found)?, found)))
            .filter(|(_, found)| found.ours().is_some_and(|it| it.value.is_some()))
            .collect();
        rows.sort_by_key(|(key, _)| *key);
        if rows.is_empty() {
            return String::new();
        }
        let mut text =
            "| work | type | size | this library | fastest rival | rival's time / ours |\n\
                        |---|---|---:|---:|---:|---:|\n"
                .to_owned();
        for (_, found) in &rows {
            text += &line(found);
        }
        let founds: Vec<_> = rows.into_iter().map(|(_, found)| found).collect();
        format!("{text}\n{}\n", sources(&founds))
    }
}

fn line(found: &Found<'_>) -> String {
    let row = found.row;
    let (Some(ours), rival) = (found.ours(), found.rival()) else {
        return String::new();
    };
    let decimals = decimals(ours.value.into_iter().chain(rival.and_then(|it| it.value)));
    let value = |figure: &Figure| value_text(figure.value.unwrap_or(f64::NAN), row.unit, decimals);
    let theirs = rival.map(|rival| format!("{} {}", rival.name, value(rival)));
    let detail = match row.detail.as_str() {
        "" => String::new(),
        detail => format!(", {detail}"),
    };
    let cached = if row.in_l2 == Some(true) {
        " (in L2)"
    } else {
        ""
    };
    format!(
        "| {}{detail} | {} | {}{cached} | {} | {} | {} |\n",
        row.work.replace('_', " "),
        row.element,
        shape_text(&row.shape),
        value(ours),
        theirs.unwrap_or_default(),
        found.ratio().map(ratio_text).unwrap_or_default(),
    )
}

/// A ratio with two decimals.
pub fn ratio_text(ratio: f64) -> String {
    format!("{ratio:.2}")
}

/// A value with its unit.
pub fn value_text(value: f64, unit: Unit, decimals: usize) -> String {
    match unit {
        Unit::Seconds if value < 1e-3 => format!("{:.*} us", decimals, value * 1e6),
        Unit::Seconds if value < 1.0 => format!("{:.*} ms", decimals, value * 1e3),
        _ => format!("{value:.decimals$} {}", unit.symbol()),
    }
}

/// As many decimals as leave three digits of the greater values.
pub fn decimals(values: impl Iterator<Item = f64>) -> usize {
    match values.fold(0.0, f64::max) {
        100.0.. => 0,
        _ => 1,
    }
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
        let device = format!("{}, driver for CUDA {driver}", found.file.device.name);
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
        let list = |items: BTreeSet<String>| Vec::from_iter(items).join(", ");
        let commits: BTreeSet<String> = commits.into_iter().map(str::to_owned).collect();
        format!(
            "{device}; {}; measured {dates}, commit {}.",
            list(versions),
            list(commits)
        )
    });
    Vec::from_iter(sentences).join(" ")
}

/// The library of a rival, which may be named with one of its ways.
fn library(rival: &str) -> &str {
    rival.split(", ").next().unwrap_or(rival)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_output::figures::{Device, Figures, Row, Run};

    fn figures(rows: Vec<Row>) -> Figures {
        let cub = ("CUB".to_owned(), Some("3.5.0".to_owned()));
        Figures {
            device: Device {
                name: "GPU".to_owned(),
                count: 1,
                compute_capability: None,
                multiprocessors: None,
                l2_cache_bytes: None,
                memory_bytes: None,
            },
            driver: Some("13.0".to_owned()),
            runs: vec![Run {
                date: "2026-01-31".to_owned(),
                commit: Some("abc".to_owned()),
                command: None,
                method: None,
                rivals: BTreeMap::from([cub]),
                rows,
            }],
        }
    }

    fn row(work: &str, shape: &str, ours: f64, rivals: &[(&str, f64)]) -> Row {
        let rivals = rivals.iter();
        Row {
            work: work.to_owned(),
            element: "f32".to_owned(),
            shape: shape.to_owned(),
            size: Some(1 << 28),
            detail: String::new(),
            unit: Unit::Gigabytes,
            in_l2: Some(false),
            ours: vec![Figure::new("reduce", Some(ours))],
            rivals: rivals
                .map(|&(name, value)| Figure::new(name, Some(value)))
                .collect(),
        }
    }

    #[test]
    fn a_table_compares_with_the_fastest_rival_and_says_where_we_lose() {
        let rows = vec![
            row(
                "rows",
                "64x4194304",
                4200.0,
                &[("CUB, offsets", 1200.0), ("torch", 4400.0)],
            ),
            row("sum", "2^28", 4545.0, &[("CUB", 4500.0)]),
            row("min_max", "2^28", 52.0, &[]),
        ];
        let measured = Measured::of([("compare", figures(rows))]);
        let table = BLOCKS[1].table(&measured);
        let lines: Vec<_> = table.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| sum | f32 | 2²⁸ | 4545 GB/s | CUB 4500 GB/s | 1.01 |",
                "| min max | f32 | 2²⁸ | 52.0 GB/s |  |  |",
                "| rows | f32 | 64 × 4194304 | 4200 GB/s | torch 4400 GB/s | 0.95 |",
                "",
                "GPU, driver for CUDA 13.0; CUB 3.5.0, torch; measured 2026-01-31, commit abc.",
            ]
        );
    }

    #[test]
    fn a_sum_in_any_order_is_no_rival_of_a_reproducible_one() {
        let rivals = [("CUB", 4500.0), ("CUB, gpu_to_gpu", 3000.0)];
        let rows = vec![row("reproducible_sum", "2^28", 4400.0, &rivals)];
        let measured = Measured::of([("compare", figures(rows))]);
        let table = BLOCKS[1].table(&measured);
        assert!(
            table.contains("| 4400 GB/s | CUB, gpu_to_gpu 3000 GB/s | 1.47 |"),
            "{table}"
        );
    }

    #[test]
    fn the_summary_has_every_job_that_it_names() {
        let measured = Measured::of_repository().unwrap();
        let names: BTreeSet<String> = measured.rows().map(|it| it.row.name()).collect();
        for name in SUMMARY {
            assert!(names.contains(name), "nothing measured {name}");
        }
    }
}

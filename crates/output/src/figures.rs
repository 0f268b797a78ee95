//! Measured figures: what the files in `benches/results/` hold.
//!
//! A file belongs to one device and driver. It has a run for each time that a benchmark measured something that still
//! stands there, and a run has a row for each job: what this library and its rivals reached.

use crate::{Outcome, write_text};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

/// The figures of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Where they were measured.
    pub device: Device,
    /// The newest version of CUDA that the driver supports.
    pub driver: Option<String>,
    /// From the oldest to the newest.
    pub runs: Vec<Run>,
}

/// The device, or one of several equal ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// As the driver calls it.
    pub name: String,
    /// Devices that worked together.
    pub count: usize,
    /// Such as `9.0`; `None` for the simulator.
    pub compute_capability: Option<String>,
    /// Multiprocessors of one device.
    pub multiprocessors: Option<u32>,
    /// Bytes of one device's second-level cache.
    pub l2_cache_bytes: Option<u64>,
    /// Bytes of one device's memory.
    pub memory_bytes: Option<u64>,
}

/// What one start of a benchmark measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The day in UTC, such as `2026-01-31`.
    pub date: String,
    /// The commit of this repository; `None` where it is unknown.
    pub commit: Option<String>,
    /// The benchmark and its arguments; `None` where they are unknown.
    pub command: Option<String>,
    /// How times were taken, or a remark on the run.
    pub method: Option<String>,
    /// The versions of the rivals, by their names; `None` where one is unknown.
    pub rivals: BTreeMap<String, Option<String>>,
    /// A row for each job.
    pub rows: Vec<Row>,
}

/// One job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Such as `sum`, `rows` or `product`.
    pub work: String,
    /// The type of the elements, such as `f32`.
    #[serde(rename = "type")]
    pub element: String,
    /// As a table has it: `2^28`, `4096`, `64x4194304`.
    pub shape: String,
    /// What a horizontal axis counts: elements of an array, rows of square matrices, products of a batch.
    pub size: Option<u64>,
    /// What else distinguishes the job: the data, the order of an operand, a way that a caller chose.
    pub detail: String,
    /// That of the values of all contenders.
    pub unit: Unit,
    /// Whether all operands fit into the second-level cache; `None` where it is unknown.
    pub in_l2: Option<bool>,
    /// This library; more than one where it has several functions for the job.
    pub ours: Vec<Figure>,
    /// Other libraries that did the same job.
    pub rivals: Vec<Figure>,
}

/// The unit of a row's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// 10^9 bytes that have to be read, and written where the result is as long as the operands, in a second.
    #[serde(rename = "GB/s")]
    Gigabytes,
    /// 10^12 multiplications and additions in a second.
    #[serde(rename = "TFLOP/s")]
    Teraflops,
    /// Seconds of a call.
    #[serde(rename = "s")]
    Seconds,
}

/// What one contender reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The function, or the library and, after a comma, which of its ways.
    pub name: String,
    /// `None` on the simulator, whose time says nothing about a GPU's.
    pub value: Option<f64>,
    /// The median of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The quartiles below and above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_quartiles: Option<[f64; 2]>,
    /// Seconds that nine of ten calls do not exceed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_p90: Option<f64>,
    /// Allocations on the host, of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocations: Option<f64>,
    /// The error of the result as a vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_l2: Option<f64>,
}

impl Unit {
    /// As it is written after a value.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Gigabytes => "GB/s",
            Self::Teraflops => "TFLOP/s",
            Self::Seconds => "s",
        }
    }

    /// Whether a greater value is better.
    pub fn is_speed(self) -> bool {
        self != Self::Seconds
    }
}

impl Figure {
    /// A value without anything else.
    pub fn new(name: &str, value: Option<f64>) -> Self {
        Self {
            name: name.to_owned(),
            value,
            ..Self::default()
        }
    }
}

impl Row {
    /// What makes it another job than others: its work, type, shape and detail, as text.
    pub fn name(&self) -> String {
        let Self {
            work,
            element,
            shape,
            detail,
            ..
        } = self;
        let comma = if detail.is_empty() { "" } else { ", " };
        format!("{work} {element} {shape}{comma}{detail}")
    }

    /// How many times as fast as `rival` a contender is: the rival's time over its own.
    pub fn ratio(&self, ours: &Figure, rival: &Figure) -> Option<f64> {
        let (ours, rival) = (ours.value?, rival.value?);
        Some(match self.unit.is_speed() {
            true => ours / rival,
            false => rival / ours,
        })
    }

    /// The rival that is the fastest of those whose names `is_meant` takes.
    pub fn strongest_rival(&self, is_meant: impl Fn(&str) -> bool) -> Option<&Figure> {
        let rivals = self.rivals.iter().filter(|it| is_meant(&it.name));
        let measured = rivals.filter_map(|it| Some((it, it.value?)));
        let fastest = measured.max_by(|(_, left), (_, right)| match self.unit.is_speed() {
            true => left.total_cmp(right),
            false => right.total_cmp(left),
        });
        fastest.map(|(rival, _)| rival)
    }
}

impl Device {
    /// The name of the file of a benchmark's figures: `nvidia-h200-compare.json`, `nvidia-h200-x2-groups.json`.
    pub fn file_name(&self, program: &str) -> String {
        let name = self.name.to_lowercase();
        let words = name.split(|c: char| !c.is_ascii_alphanumeric());
        let mut words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let count = format!("x{}", self.count);
        if self.count > 1 {
            words.push(&count);
        }
        words.push(program);
        words.join("-") + ".json"
    }
}

impl Run {
    /// The version of the rival of this name: its own, or that of the library before the comma.
    pub fn version_of(&self, rival: &str) -> Option<&str> {
        let library = rival.split(", ").next().unwrap_or(rival);
        let version = self.rivals.get(rival).or_else(|| self.rivals.get(library));
        version?.as_deref()
    }
}

impl Figures {
    /// Reads a file.
    ///
    /// # Errors
    /// The system's, or that the file holds something else, with the path.
    pub fn read(path: &Path) -> Outcome<Self> {
        let text = fs::read_to_string(path);
        let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    /// Adds a run, whose rows take the place of those of the same jobs. Runs that have lost all rows go.
    pub fn add(&mut self, run: Run) {
        let names: HashSet<String> = run.rows.iter().map(Row::name).collect();
        for earlier in &mut self.runs {
            earlier.rows.retain(|row| !names.contains(&row.name()));
        }
        self.runs.retain(|run| !run.rows.is_empty());
        self.runs.push(run);
    }

    /// All rows, each with its run.
    pub fn rows(&self) -> impl Iterator<Item = (&Run, &Row)> {
        let rows = |run| {
            let run: &Run = run;
            run.rows.iter().map(move |row| (run, row))
        };
        self.runs.iter().flat_map(rows)
    }

    /// The text of the file: a line for each row, so that a change of one is a changed line.
    ///
    /// # Errors
    /// None is known.
    pub fn to_text(&self) -> Outcome<String> {
        let mut runs = Vec::new();
        for run in &self.runs {
            let head = serde_json::to_string(&Run {
                rows: Vec::new(),
                ..run.clone()
            })?;
            let head = head.strip_suffix("]}").ok_or("the rows come last")?;
            let rows = run.rows.iter().map(serde_json::to_string);
            let rows: Vec<String> = rows.collect::<Result<_, _>>()?;
            runs.push(format!("{head}\n{}\n]}}", rows.join(",\n")));
        }
        Ok(format!(
            "{{\n\"device\":{},\n\"driver\":{},\n\"runs\":[\n{}\n]}}\n",
            serde_json::to_string(&self.device)?,
            serde_json::to_string(&self.driver)?,
            runs.join(",\n"),
        ))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn write(&self, path: &Path) -> Outcome {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        write_text(path, &self.to_text()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(shape: &str, unit: Unit, ours: f64, rivals: &[(&str, f64)]) -> Row {
        Row {
            work: "sum".to_owned(),
            element: "f32".to_owned(),
            shape: shape.to_owned(),
            size: Some(16),
            detail: String::new(),
            unit,
            in_l2: Some(true),
            ours: vec![Figure::new("reduce_sum", Some(ours))],
            rivals: (rivals.iter())
                .map(|(name, value)| Figure::new(name, Some(*value)))
                .collect(),
        }
    }

    fn run(date: &str, rows: Vec<Row>) -> Run {
        Run {
            date: date.to_owned(),
            commit: None,
            command: Some("compare".to_owned()),
            method: None,
            rivals: BTreeMap::from([("CUB".to_owned(), Some("3.5.0".to_owned()))]),
            rows,
        }
    }

    fn figures(runs: Vec<Run>) -> Figures {
        Figures {
            device: Device {
                name: "A".to_owned(),
                count: 1,
                compute_capability: Some("9.0".to_owned()),
                multiprocessors: Some(132),
                l2_cache_bytes: None,
                memory_bytes: None,
            },
            driver: Some("13.0".to_owned()),
            runs,
        }
    }

    #[test]
    fn the_fastest_rival_is_compared_by_time() {
        let rivals = [("CUB", 2.0), ("torch", 4.0)];
        let speed = row("2^4", Unit::Gigabytes, 8.0, &rivals);
        let strongest = speed.strongest_rival(|_| true).unwrap();
        assert_eq!(strongest.name, "torch");
        assert_eq!(speed.ratio(&speed.ours[0], strongest), Some(2.0));
        let time = row("2^4", Unit::Seconds, 8.0, &rivals);
        let strongest = time.strongest_rival(|_| true).unwrap();
        assert_eq!(strongest.name, "CUB");
        assert_eq!(time.ratio(&time.ours[0], strongest), Some(0.25));
        assert!(time.strongest_rival(|name| name == "cuBLAS").is_none());
    }

    #[test]
    fn a_new_row_takes_the_place_of_that_of_the_same_job() {
        let one = |shape, value| row(shape, Unit::Gigabytes, value, &[]);
        let first = run("2026-01-01", vec![one("2^4", 1.0)]);
        let second = run("2026-01-02", vec![one("2^5", 1.0), one("2^6", 1.0)]);
        let mut all = figures(vec![first, second]);
        all.add(run("2026-01-03", vec![one("2^4", 3.0), one("2^6", 3.0)]));
        let found: Vec<_> = (all.rows())
            .map(|(run, row)| (run.date.as_str(), row.shape.as_str(), row.ours[0].value))
            .collect();
        assert_eq!(
            found,
            [
                ("2026-01-02", "2^5", Some(1.0)),
                ("2026-01-03", "2^4", Some(3.0)),
                ("2026-01-03", "2^6", Some(3.0)),
            ]
        );
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let rows = vec![
            row("2^4", Unit::Teraflops, 0.1 + 0.2, &[("CUB, fixed", 1e-9)]),
            row("2^5", Unit::Seconds, 3.0, &[]),
        ];
        let all = figures(vec![run("2026-01-01", rows)]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results/a.json");
        all.write(&path).unwrap();
        assert_eq!(Figures::read(&path).unwrap(), all);
        assert_eq!(all.runs[0].version_of("CUB, fixed"), Some("3.5.0"));
        assert_eq!(all.device.file_name("compare"), "a-compare.json");
        let two = Device {
            name: "NVIDIA H100 80GB HBM3".to_owned(),
            count: 2,
            ..all.device
        };
        let name = "nvidia-h100-80gb-hbm3-x2-groups.json";
        assert_eq!(two.file_name("groups"), name);
        // A line for each row.
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().filter(|it| it.contains("2^")).count(), 2);
    }
}

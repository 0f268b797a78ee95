//! The figures of `benches/results/`, and the selection for pages.

use crate::workspace::{Result, workspace_root};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use tilewright_output::figures::{Figure, Figures, Row, Run};

/// Relative to the root.
const RESULTS: &str = "benches/results";

/// The folder of the repository's figures.
pub fn results() -> PathBuf {
    workspace_root().join(RESULTS)
}

/// The figures for pages: for each benchmark, those of one device.
pub struct Measured {
    /// By the benchmark's name.
    files: BTreeMap<String, Figures>,
}

/// A row and its source.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    pub file: &'a Figures,
    pub run: &'a Run,
    pub row: &'a Row,
}

impl Measured {
    /// Reads all files of a folder. For a benchmark on several devices, the latest measurement is used.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut files = BTreeMap::<String, Figures>::new();
        for path in paths(folder)? {
            let figures = Figures::read(&path)?;
            let program = program(&path)?;
            let expected = figures.device.file_name(&program);
            if path
                .file_name()
                .is_none_or(|name| name != expected.as_str())
            {
                return Err(format!("{} has the name of {expected}", path.display()).into());
            }
            let last = |figures: &Figures| figures.runs.iter().map(|it| it.date.clone()).max();
            let is_newer = files
                .get(&program)
                .is_none_or(|it| last(it) < last(&figures));
            if is_newer {
                files.insert(program, figures);
            }
        }
        let measured = Self { files };
        let mut names = HashSet::new();
        for found in measured.rows() {
            let name = found.row.name();
            if let Some(name) = names.replace(name) {
                return Err(format!("two rows are of {name}").into());
            }
        }
        Ok(measured)
    }

    /// The repository's figures.
    pub fn of_repository() -> Result<Self> {
        Self::read(&results())
    }

    #[cfg(test)]
    pub fn of(files: impl IntoIterator<Item = (&'static str, Figures)>) -> Self {
        let files = files.into_iter();
        Self {
            files: files.map(|(name, file)| (name.to_owned(), file)).collect(),
        }
    }

    /// The rows of the benchmarks on one device.
    pub fn rows(&self) -> impl Iterator<Item = Found<'_>> {
        self.rows_of(|file| file.device.count == 1)
    }

    /// The rows of the benchmarks on several devices.
    pub fn rows_of_groups(&self) -> impl Iterator<Item = Found<'_>> {
        self.rows_of(|file| file.device.count > 1)
    }

    fn rows_of(&self, is_meant: impl Fn(&Figures) -> bool) -> impl Iterator<Item = Found<'_>> {
        let files = self.files.values().filter(move |file| is_meant(file));
        files.flat_map(|file| file.rows().map(move |(run, row)| Found { file, run, row }))
    }
}

impl Found<'_> {
    /// Our contender, or the first of several.
    pub fn ours(&self) -> Option<&Figure> {
        self.row.ours.first()
    }

    /// The fastest rival with the job's guarantees: CUB's unordered sum rivals a reproducible one only if CUB has no
    /// reproducible sum.
    pub fn rival(&self) -> Option<&Figure> {
        let with_order = self
            .row
            .strongest_rival(|name| !name.ends_with("any order"));
        with_order.or_else(|| self.row.strongest_rival(|_| true))
    }

    /// The rival's time over ours.
    pub fn ratio(&self) -> Option<f64> {
        self.row.ratio(self.ours()?, self.rival()?)
    }
}

/// The benchmark of a file: the last part of its name.
fn program(path: &Path) -> Result<String> {
    let name = path.file_stem().and_then(|name| name.to_str());
    let program = name.and_then(|name| name.rsplit('-').next());
    let program = program.ok_or_else(|| format!("{} has no name", path.display()))?;
    Ok(program.to_owned())
}

fn paths(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "json"));
    paths.sort();
    Ok(paths)
}

/// Adds a file's runs to the folder's file of the same device and benchmark, which is created if missing, and
/// replaced if the driver differs.
pub fn add(path: &Path, folder: &Path) -> Result {
    let new = Figures::read(path)?;
    let commands = new.runs.iter().filter_map(|run| run.command.as_deref());
    let mut programs: Vec<&str> = commands.filter_map(|it| it.split(' ').next()).collect();
    programs.dedup();
    let [program] = programs[..] else {
        return Err(format!("{}: its runs are not of one benchmark", path.display()).into());
    };
    let target = folder.join(new.device.file_name(program));
    let mut figures = match target.exists() {
        true => Figures::read(&target)?,
        false => Figures {
            runs: Vec::new(),
            ..new.clone()
        },
    };
    if (&figures.device, &figures.driver) != (&new.device, &new.driver) {
        println!("{}: another device or driver, replaced", target.display());
        figures = Figures {
            runs: Vec::new(),
            ..new.clone()
        };
    }
    for run in new.runs {
        figures.add(run);
    }
    figures.write(&target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_output::figures::{Device, Unit};

    fn run(date: &str, program: &str, shapes: &[&str]) -> Run {
        let row = |shape: &&str| Row {
            work: "sum".to_owned(),
            element: "f32".to_owned(),
            shape: (*shape).to_owned(),
            size: None,
            detail: String::new(),
            unit: Unit::Gigabytes,
            in_l2: None,
            ours: vec![Figure::new("reduce_sum", Some(1.0))],
            rivals: Vec::new(),
        };
        Run {
            date: date.to_owned(),
            commit: None,
            command: Some(format!("{program} --out a.json")),
            method: None,
            rivals: BTreeMap::new(),
            rows: shapes.iter().map(row).collect(),
        }
    }

    fn figures(name: &str, runs: Vec<Run>) -> Figures {
        Figures {
            device: Device {
                name: name.to_owned(),
                count: 1,
                compute_capability: None,
                multiprocessors: None,
                l2_cache_bytes: None,
                memory_bytes: None,
            },
            driver: None,
            runs,
        }
    }

    #[test]
    fn runs_are_added_to_the_file_of_their_device_and_benchmark() {
        let folder = tempfile::tempdir().unwrap();
        let [results, new] = ["results", "out.json"].map(|it| folder.path().join(it));
        let add_run = |name: &str, run: Run| {
            figures(name, vec![run]).write(&new).unwrap();
            add(&new, &results).unwrap();
        };
        add_run("GPU 1", run("2026-01-01", "compare", &["2^4", "2^5"]));
        add_run("GPU 1", run("2026-01-02", "compare", &["2^5", "2^6"]));
        let there = Figures::read(&results.join("gpu-1-compare.json")).unwrap();
        let rows = there
            .rows()
            .map(|(run, row)| (run.date.as_str(), row.shape.as_str()));
        assert_eq!(
            Vec::from_iter(rows),
            [
                ("2026-01-01", "2^4"),
                ("2026-01-02", "2^5"),
                ("2026-01-02", "2^6")
            ]
        );
        // Of two devices, the latest measurement is shown.
        add_run("GPU 2", run("2026-01-03", "compare", &["2^7"]));
        let measured = Measured::read(&results).unwrap();
        let shapes = measured.rows().map(|it| it.row.shape.as_str());
        assert_eq!(Vec::from_iter(shapes), ["2^7"]);
        // A job has one row, whichever benchmark measured it.
        add_run("GPU 2", run("2026-01-04", "products", &["2^7"]));
        assert!(Measured::read(&results).is_err());
    }
}

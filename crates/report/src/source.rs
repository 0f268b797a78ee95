//! The lines of a kernel's source with their cost.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tilewright::{KernelReport, Operation, Tally};

/// The workspace's folder, from which cargo gives the compiler the paths of its own crates.
const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// One line of a source file and its counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceLine {
    /// The operations at the line, each summed over its places.
    pub(crate) operations: BTreeMap<Operation, Tally>,
    /// The line's share of the kernel's cost, from 0 to 1.
    pub(crate) share: f64,
}

impl SourceLine {
    /// The line's cost over all operations.
    pub(crate) fn total(&self) -> Tally {
        let mut sum = Tally::default();
        for tally in self.operations.values() {
            sum += *tally;
        }
        sum
    }
}

/// One source file: the counted lines by number, from 1.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    /// The path that cargo gave to the compiler.
    pub(crate) path: String,
    pub(crate) lines: BTreeMap<u32, SourceLine>,
}

impl SourceFile {
    /// The lines of the file; none where it cannot be read.
    pub(crate) fn read(&self) -> Option<Vec<String>> {
        let text = fs::read_to_string(&self.path)
            .or_else(|_| fs::read_to_string(Path::new(WORKSPACE).join(&self.path)));
        Some(text.ok()?.lines().map(str::to_owned).collect())
    }
}

/// The source files of a kernel, with each line's share of the cost.
pub(crate) fn annotate(report: &KernelReport) -> Vec<SourceFile> {
    let counts = &report.counts.lines;
    let whole: f64 = counts
        .iter()
        .map(|line| report.busy_seconds(&line.tally))
        .sum();
    let mut files: BTreeMap<&str, BTreeMap<u32, SourceLine>> = BTreeMap::new();
    for counted in counts {
        let lines = files.entry(&counted.location.file).or_default();
        let line = lines.entry(counted.location.line).or_default();
        *line.operations.entry(counted.operation).or_default() += counted.tally;
        if whole > 0.0 {
            line.share += report.busy_seconds(&counted.tally) / whole;
        }
    }
    files
        .into_iter()
        .map(|(path, lines)| SourceFile {
            path: path.to_owned(),
            lines,
        })
        .collect()
}

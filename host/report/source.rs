//! The lines of a kernel's source, with what they cost.

use simt::{Datasheet, LineCounts, Operation, SECTOR_BYTES, Tally};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// One line of a source file and what is counted there.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceLine {
    /// The operations at the line, each summed over its places.
    pub(super) operations: BTreeMap<Operation, Tally>,
    /// The part of the kernel's cost that the line has, from 0 to 1.
    pub(super) share: f64,
}

impl SourceLine {
    /// The line's cost over all operations.
    pub(super) fn total(&self) -> Tally {
        self.operations
            .values()
            .fold(Tally::default(), |mut sum, tally| {
                sum += *tally;
                sum
            })
    }
}

/// One source file: the counted lines by number, from 1.
#[derive(Clone, Debug)]
pub(super) struct SourceFile {
    /// The path as the compiler was given it.
    pub(super) path: String,
    pub(super) lines: BTreeMap<u32, SourceLine>,
    /// All lines of the file; none where it cannot be read.
    pub(super) text: Option<Vec<String>>,
}

/// The files that `counts` names, with each line's share of the cost on this device.
pub(super) fn annotate(counts: &[LineCounts], sheet: &Datasheet) -> Vec<SourceFile> {
    let whole: f64 = counts.iter().map(|line| weight(&line.tally, sheet)).sum();
    let mut files: BTreeMap<&str, BTreeMap<u32, SourceLine>> = BTreeMap::new();
    for counted in counts {
        let lines = files.entry(&counted.location.file).or_default();
        let line = lines.entry(counted.location.line).or_default();
        *line.operations.entry(counted.operation).or_default() += counted.tally;
        if whole > 0.0 {
            line.share += weight(&counted.tally, sheet) / whole;
        }
    }
    files
        .into_iter()
        .map(|(path, lines)| SourceFile {
            path: path.to_owned(),
            lines,
            text: read(path),
        })
        .collect()
}

/// The seconds that the parts of the device need for some requests, added up.
fn weight(tally: &Tally, sheet: &Datasheet) -> f64 {
    let moved = (tally.global.sectors * SECTOR_BYTES) as f64 / (sheet.l2_bandwidth() * 1e9);
    let passes = tally.shared.wavefronts as f64 / sheet.shared_passes_per_second();
    let flops = tally.flops_f32 as f64 / (sheet.f32_peak * 1e12)
        + tally.flops_f64 as f64 / (sheet.f64_peak * 1e12);
    moved + passes + flops
}

/// The lines of a file. Cargo gives the compiler paths from the workspace's root.
fn read(path: &str) -> Option<Vec<String>> {
    let below_this_crate = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = fs::read_to_string(path).or_else(|_| fs::read_to_string(below_this_crate));
    Some(text.ok()?.lines().map(str::to_owned).collect())
}

//! The source files of a kernel.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tilewright::{KernelReport, SourceLine};

/// The workspace's folder, to which cargo's paths of its own crates are relative.
const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A source file, with its counted lines by number, from 1.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    /// The path that cargo gave to the compiler.
    pub(crate) path: String,
    pub(crate) lines: BTreeMap<u32, SourceLine>,
}

impl SourceFile {
    /// The lines of the file; `None` if it cannot be read.
    pub(crate) fn read(&self) -> Option<Vec<String>> {
        lines_of(&self.path)
    }
}

/// The lines of a source file, by the path that cargo gave to the compiler; `None` if it cannot be read.
pub(crate) fn lines_of(path: &str) -> Option<Vec<String>> {
    let text =
        fs::read_to_string(path).or_else(|_| fs::read_to_string(Path::new(WORKSPACE).join(path)));
    Some(text.ok()?.lines().map(str::to_owned).collect())
}

/// The source files of a kernel, with the counted lines.
pub(crate) fn files(report: &KernelReport) -> Vec<SourceFile> {
    let mut files: Vec<SourceFile> = Vec::new();
    for line in report.source_lines() {
        if files.last().is_none_or(|file| file.path != line.file) {
            files.push(SourceFile {
                path: line.file.clone(),
                lines: BTreeMap::new(),
            });
        }
        let file = files.last_mut().expect("one was pushed at the latest");
        file.lines.insert(line.line, line);
    }
    files
}

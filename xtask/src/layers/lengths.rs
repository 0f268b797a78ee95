//! Finds files that are too long.

use std::path::Path;
use std::{fs, io};

/// Maximum lines per file.
const MOST_LINES: usize = 400;

/// The files below `root` with more lines, each with advice. Missing files are ignored.
pub fn too_long(root: &Path, files: &[String]) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for file in files.iter().filter(|it| root.join(it).exists()) {
        let lines = fs::read_to_string(root.join(file))?.lines().count();
        if lines > MOST_LINES {
            found.push(format!(
                "{file} has {lines} lines, of {MOST_LINES} at most: give an idea of it a file of its own"
            ));
        }
    }
    Ok(found)
}

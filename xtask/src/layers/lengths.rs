//! Files that are too long to be read at once.

use std::path::Path;
use std::{fs, io};

/// The most lines of a file.
const MOST_LINES: usize = 400;

/// The files below `root` that have more lines, each with what to do about it. Files that are no more there do not
/// count.
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

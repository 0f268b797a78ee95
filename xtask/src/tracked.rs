//! The files of the repository.

use crate::workspace::Result;
use std::path::Path;
use std::process::Command;
use tilewright_ptxas::output;

/// The tracked files below `root` that match one of `patterns`, or all of them if there is none, relative to
/// it.
pub fn tracked(root: &Path, patterns: &[&str]) -> Result<Vec<String>> {
    let mut git = Command::new("git");
    let git = git.current_dir(root).args(["ls-files", "-z", "--"]);
    let files = String::from_utf8(output(git.args(patterns))?.stdout)?;
    Ok(files.split_terminator('\0').map(str::to_owned).collect())
}

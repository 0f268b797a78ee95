//! `cargo xtask layers`: whether files use one another in circles or are too long, and whether docs/architecture.md is
//! true.
//!
//! A file's uses are the paths of its `use` items, paths that start with `crate`, `super`, `self` or a child module,
//! and paths in macros. Method calls are not considered.

mod lengths;
mod picture;
mod sources;

use crate::tracked::tracked;
use crate::workspace::{Result, workspace_root};
use lengths::too_long;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use picture::{breaches, pictures};
use sources::{Sources, Use};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The page with the pictures.
const PAGE: &str = "docs/architecture.md";

pub fn run(mut arguments: lexopt::Parser) -> Result {
    if let Some(argument) = arguments.next()? {
        return Err(argument.unexpected().into());
    }
    let root = workspace_root();
    let pictures = pictures(&fs::read_to_string(root.join(PAGE))?);
    if pictures.is_empty() {
        return Err(format!("{PAGE} has no picture").into());
    }
    let crates = crates(&root)?;
    let mut faults = too_long(&root, &tracked(&root, &["*.rs"])?)?;
    let mut files = 0;
    for folder in &crates {
        let sources = Sources::read(&root, folder)?;
        files += sources.modules.len();
        faults.extend(circles(&sources.uses));
    }
    for picture in &pictures {
        let sources = Sources::read(&root, &picture.folder)?;
        faults.extend(breaches(picture, &sources));
    }
    if faults.is_empty() {
        let (crates, pictures) = (crates.len(), pictures.len());
        println!(
            "{crates} crates, {files} files: no circles, none too long; {pictures} pictures hold"
        );
        return Ok(());
    }
    Err(faults.join("\n       ").into())
}

/// Folders of single-file programs that share modules. They are read as one crate without a root.
const OF_PROGRAMS: [&str; 2] = ["benches", "examples"];

/// The folders of all crate roots, relative to the workspace, and the folders of programs.
fn crates(root: &Path) -> Result<BTreeSet<String>> {
    let roots = tracked(root, &["*lib.rs", "*main.rs"])?;
    let folder = |file: &String| {
        let (folder, name) = file.rsplit_once('/')?;
        let is_root = ["lib.rs", "main.rs"].contains(&name);
        let is_test = folder.contains("tests/");
        (is_root && !is_test).then(|| folder.to_owned())
    };
    let of_programs = OF_PROGRAMS.map(str::to_owned);
    Ok(roots.iter().filter_map(folder).chain(of_programs).collect())
}

/// A description of each circle.
fn circles(uses: &[Use]) -> Vec<String> {
    let edges = uses.iter().map(|it| (it.file.as_str(), it.target.as_str()));
    let graph = DiGraphMap::<&str, ()>::from_edges(edges);
    let mut found = Vec::new();
    for files in tarjan_scc(&graph).into_iter().filter(|it| it.len() > 1) {
        let mut text = format!("a circle of {} files:", files.len());
        for it in uses {
            if files.contains(&it.file.as_str()) && files.contains(&it.target.as_str()) {
                let Use {
                    file, line, path, ..
                } = it;
                let _ = write!(text, "\n         {file}:{line}: {path}");
            }
        }
        found.push(text);
    }
    found
}

#[cfg(test)]
mod tests;

//! Drivers that tests make: C libraries of the driver's name, in a folder that the loader of a child
//! process looks into first.

use crate::common::say;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use tempfile::TempDir;

/// The name of the driver's library.
pub const LIBRARY: &str = "libcuda.so.1";

/// The table of the driver's functions, where every one that is called has to be.
const TABLE: &str = include_str!("../../host/cuda/library.rs");

/// The names of all functions in the table.
pub fn functions() -> impl Iterator<Item = &'static str> {
    let (_, table) = TABLE.split_once("\nfunctions! {\n").unwrap();
    let (table, _) = table.split_once("\n}\n").unwrap();
    table.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("    cu")?.split_once('(')?;
        Some(&line[4..name.len() + 6])
    })
}

/// C functions that return `status`, for those of the table that `source` does not define, but not
/// for `without`.
pub fn other_functions(source: &str, status: u32, without: Option<&str>) -> String {
    let mut others = String::new();
    for name in functions() {
        if !source.contains(&format!("int {name}(")) && Some(name) != without {
            writeln!(others, "int {name}(void) {{ return {status}; }}").unwrap();
        }
    }
    others
}

/// A folder with the driver that `source` makes; `None`, after saying so, on a machine without a C
/// compiler.
pub fn folder_with(source: &str) -> Option<TempDir> {
    let folder = TempDir::new().unwrap();
    compile(&folder, LIBRARY, source).then_some(folder)
}

/// Puts the library `name` that `source` makes into `folder`. False, after saying so, on a machine without a
/// C compiler.
pub fn compile(folder: &TempDir, name: &str, source: &str) -> bool {
    let file = folder.path().join("library.c");
    fs::write(&file, source).unwrap();
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let compiled = Command::new(compiler)
        .args(["-shared", "-fPIC", &format!("-Wl,-soname,{name}"), "-o"])
        .arg(folder.path().join(name))
        .arg(&file)
        .status();
    match compiled {
        Ok(status) => assert!(status.success(), "the C compiler failed"),
        Err(error) => {
            say(&format!("skipped: the C compiler does not start ({error})"));
            return false;
        }
    }
    true
}

//! Which of the checked-in kernels the simulator can run as PTX, and what is missing for the others.
//!
//! `cargo run --package tilewright-ptx --example coverage [FILE.ptx..]`; without files, of the checked-in kernels.

use ptx::{Module, coverage};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use tilewright_ptxas::{FOLDERS, unpacked};

/// Kernels and instructions of one architecture.
#[derive(Default)]
struct Counts {
    kernels: usize,
    runnable: usize,
    instructions: usize,
    unsupported: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut by_architecture: BTreeMap<String, Counts> = BTreeMap::new();
    let mut unsupported: BTreeMap<String, usize> = BTreeMap::new();
    let mut files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        for folder in FOLDERS {
            files.extend(unpacked(&root, folder)?);
        }
    }
    for path in files {
        let module: Module = std::fs::read_to_string(path)?.parse()?;
        let counts = by_architecture
            .entry(module.target[0].to_string())
            .or_default();
        for kernel in module.kernels() {
            let (instructions, missing) = coverage(&module, &kernel.name);
            counts.kernels += 1;
            counts.runnable += usize::from(missing.is_empty());
            counts.instructions += instructions;
            counts.unsupported += missing.values().sum::<usize>();
            for (operation, count) in missing {
                *unsupported.entry(operation).or_default() += count;
            }
        }
    }
    println!("| architecture | kernels | of them runnable | instructions | of them unsupported |");
    println!("|---|---:|---:|---:|---:|");
    for (architecture, counts) in by_architecture {
        let Counts {
            kernels,
            runnable,
            instructions,
            unsupported,
        } = counts;
        println!("| {architecture} | {kernels} | {runnable} | {instructions} | {unsupported} |");
    }
    println!("\n| unsupported instruction | count |\n|---|---:|");
    let mut unsupported: Vec<(String, usize)> = unsupported.into_iter().collect();
    unsupported.sort_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(&right.0)));
    for (operation, count) in unsupported {
        println!("| `{operation}` | {count} |");
    }
    Ok(())
}

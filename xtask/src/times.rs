//! `cargo xtask times`: how long a stranger waits for kernels, from nothing and after an edit.

use crate::workspace::{Result, workspace_root};
use cuda_builder::{Arch, Build, CudaBuilder};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The kernels that are built: those of the crate to copy.
const KERNELS: &str = "examples/custom_kernel/kernels/lib.rs";

/// Edits of which the median is printed.
const EDITS: usize = 5;

pub fn run(mut arguments: lexopt::Parser) -> Result {
    if let Some(argument) = arguments.next()? {
        return Err(argument.unexpected().into());
    }
    let root = workspace_root();
    let folder = TempDir::new()?;
    let source = fs::read_to_string(root.join(KERNELS))?;
    write_crate(folder.path(), &root, &source)?;
    let builder = CudaBuilder::new(folder.path())
        .target_dir(folder.path().join("out"))
        .arch(Arch::Sm75)
        .arch(Arch::Sm80)
        .arch(Arch::Sm90a);
    let (build, from_nothing) = timed(&builder)?;
    let (_, unchanged) = timed(&builder)?;
    let mut edits = Vec::new();
    for number in 0..EDITS {
        fs::write(folder.path().join("lib.rs"), edited(&source, number))?;
        edits.push(timed(&builder)?.1);
    }
    edits.sort();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    println!(
        "{}, {processors} processors, 3 architectures\n",
        build.toolchain
    );
    println!("| build of two kernels | seconds |\n|---|---:|");
    for (what, time) in [
        ("from nothing", from_nothing),
        ("nothing has changed", unchanged),
        ("a kernel was added", edits[EDITS / 2]),
    ] {
        println!("| {what} | {:.1} |", time.as_secs_f64());
    }
    Ok(())
}

/// A kernel crate outside of the workspace, as a stranger has it.
fn write_crate(folder: &Path, root: &Path, source: &str) -> Result {
    let library = root.join("crates/cuda_std");
    let manifest = format!(
        "[package]\nname = \"kernels\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\npath = \"lib.rs\"\n\n[workspace]\n\n\
         [dependencies]\ntilewright-cuda-std = {{ path = {library:?} }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("lib.rs"), source)?;
    Ok(())
}

/// The kernels with another one, whose name has the number.
fn edited(source: &str, number: usize) -> String {
    format!(
        "{source}\n/// Writes a number.\n#[kernel]\npub fn edited_{number}(y: GlobalMut<f32>) {{\n    \
         if let Some(y) = y.own(thread::own_index()) {{\n        y.set({number}.0);\n    }}\n}}\n"
    )
}

fn timed(builder: &CudaBuilder) -> Result<(Build, Duration)> {
    let start = Instant::now();
    let build = builder.build()?;
    Ok((build, start.elapsed()))
}

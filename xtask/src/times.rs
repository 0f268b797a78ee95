//! `cargo xtask times`: how long a stranger waits: for a program on the library, for the tests of kernels on
//! the simulator, for kernels as PTX; from nothing and after an edit.

mod ptx;
mod simulator;

use crate::workspace::{Result, workspace_root};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Edits of which the median is printed.
const EDITS: usize = 5;

/// What was waited for, and how long.
type Line = (&'static str, Duration);

pub fn run(mut arguments: lexopt::Parser) -> Result {
    if let Some(argument) = arguments.next()? {
        return Err(argument.unexpected().into());
    }
    let root = workspace_root();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    println!("{processors} processors, {}", version()?);
    print_table(
        "a program that depends on the library by path",
        &simulator::first_program(&root)?,
    );
    print_table(
        "kernels of one's own on the simulator",
        &simulator::tests_of_kernels(&root)?,
    );
    let (toolchain, lines) = ptx::builds(&root)?;
    println!("\nPTX by {toolchain}, 3 architectures");
    print_table("two kernels to PTX", &lines);
    Ok(())
}

fn print_table(title: &str, lines: &[Line]) {
    println!("\n| {title} | seconds |\n|---|---:|");
    for (what, time) in lines {
        println!("| {what} | {:.1} |", time.as_secs_f64());
    }
}

/// The Rust version that packages outside of the repository are built with here.
fn version() -> Result<String> {
    let output = Command::new("rustc").arg("--version").output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The result of `work`, and how long it took.
fn timed<R>(work: impl FnOnce() -> Result<R>) -> Result<(R, Duration)> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed()))
}

/// The median time of `work` after each of some edits, which `edit` makes by their number.
fn median_after_edits(
    mut edit: impl FnMut(usize) -> Result,
    mut work: impl FnMut() -> Result,
) -> Result<Duration> {
    let mut times = Vec::new();
    for number in 0..EDITS {
        edit(number)?;
        times.push(timed(&mut work)?.1);
    }
    times.sort();
    Ok(times[EDITS / 2])
}

/// Runs cargo in `folder`, whose output is shown where it fails.
fn cargo(folder: &Path, arguments: &[&str]) -> Result {
    let output = Command::new("cargo")
        .args(arguments)
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTFLAGS")
        .env("TILEWRIGHT_DEVICE", "sim")
        .current_dir(folder)
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(format!("cargo {}: {text}", arguments.join(" ")).into())
}

/// `source` with another kernel, whose name has the number.
fn with_kernel(source: &str, number: usize) -> String {
    format!(
        "{source}\n/// Writes a number.\n#[kernel]\npub fn edited_{number}(y: GlobalMut<f32>) {{\n    \
         if let Some(y) = y.own(thread::own_index()) {{\n        y.set({number}.0);\n    }}\n}}\n"
    )
}

//! What is waited for: work, cargo, the same after edits.

use crate::workspace::Result;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Edits of which the median is printed.
const EDITS: usize = 5;

/// What was waited for, and how long.
pub type Line = (&'static str, Duration);

/// The result of `work`, and how long it took.
pub fn timed<R>(work: impl FnOnce() -> Result<R>) -> Result<(R, Duration)> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed()))
}

/// The median time of `work` after each of some edits, which `edit` makes by their number.
pub fn median_after_edits(
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
pub fn cargo(folder: &Path, arguments: &[&str]) -> Result {
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
pub fn with_kernel(source: &str, number: usize) -> String {
    format!(
        "{source}\n/// Writes a number.\n#[kernel]\npub fn edited_{number}(y: GlobalMut<f32>) {{\n    \
         if let Some(y) = y.own(thread::unique_index()) {{\n        y.set({number}.0);\n    }}\n}}\n"
    )
}

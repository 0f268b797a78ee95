//! Timing of work and of cargo, also after edits.

use crate::workspace::Result;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Number of edits. The median is printed.
const EDITS: usize = 5;

/// A description and its duration.
pub type Line = (&'static str, Duration);

/// The result of `work`, and its duration.
pub fn timed<R>(work: impl FnOnce() -> Result<R>) -> Result<(R, Duration)> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed()))
}

/// The median time of `work` after edits, which `edit` makes by number.
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

/// Runs cargo in `folder`, and shows its output if it fails.
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

/// `source` with a further kernel, whose name includes the number.
pub fn with_kernel(source: &str, number: usize) -> String {
    format!(
        "{source}\n/// Writes a number.\n#[kernel]\npub fn edited_{number}(y: GlobalMut<f32>) {{\n    \
         if let Some(y) = y.own(thread::unique_index()) {{\n        y.set({number}.0);\n    }}\n}}\n"
    )
}

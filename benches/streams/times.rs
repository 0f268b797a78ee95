//! Times of whole runs, and how they are printed.

use crate::common::Result;
use std::time::{Duration, Instant};

/// Each figure is the median of this many runs, after one that is not counted.
const RUNS: usize = 9;

/// The median time of `work`.
pub fn median_of(mut work: impl FnMut() -> Result) -> Result<Duration> {
    work()?;
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times[RUNS / 2])
}

/// A time in microseconds.
pub fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Prints the speed of a copy of `bytes`, or of a sum.
pub fn print_speed(name: &str, bytes: usize, time: Duration) {
    println!(
        "  {name:<40} {:6.1} GB/s",
        bytes as f64 / time.as_secs_f64() * 1e-9
    );
}

/// Prints a ratio of two times.
pub fn print_ratio(name: &str, numerator: Duration, denominator: Duration) {
    println!(
        "  {name:<40} {:6.2}",
        numerator.div_duration_f64(denominator)
    );
}

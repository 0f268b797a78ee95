//! How long the simulator takes for the tiled product, with all checks and without.
//!
//! `cargo run --release --example simulator_speed [SIZE ...]`

use std::time::Instant;
use tilewright::{Device, Result, SimulatorOptions};

/// Seconds that the better of two products of `size` x `size` matrices takes.
fn seconds(size: usize, checks: bool) -> Result<f64> {
    let device = Device::simulator_with(SimulatorOptions::default().with_checks(checks));
    let data: Vec<f32> = (0..size * size).map(|i| (i % 7) as f32).collect();
    let a = device.matrix(size, size, &data)?;
    let b = device.matrix(size, size, &data)?;
    let mut best = f64::INFINITY;
    for _ in 0..2 {
        let start = Instant::now();
        device.matmul_tiled(&a, &b)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn main() -> Result<()> {
    let sizes: Vec<usize> = std::env::args()
        .skip(1)
        .map(|size| size.parse().expect("a size"))
        .collect();
    let sizes = if sizes.is_empty() {
        vec![64, 256]
    } else {
        sizes
    };
    println!(
        "{:>6} {:>12} {:>12} {:>8}",
        "size", "checked, s", "unchecked, s", "factor"
    );
    for size in sizes {
        let (checked, unchecked) = (seconds(size, true)?, seconds(size, false)?);
        println!(
            "{size:6} {checked:12.4} {unchecked:12.4} {:8.1}",
            checked / unchecked
        );
    }
    Ok(())
}

//! Smooths a noisy signal on the default device, and prints how much of the noise is left.

use custom_kernel::{axpy, smooth};
use std::process::ExitCode;
use std::time::Instant;
use tilewright::{Device, Result};

/// The length of the signal.
const LEN: usize = 1 << 17;

/// The number of smoothing rounds.
const ROUNDS: usize = 20;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let device = Device::from_env()?;
    let signal: Vec<f32> = (0..LEN).map(|i| (i as f32 * 1e-4).sin()).collect();
    let noise: Vec<f32> = (0..LEN)
        .map(|i| if i % 2 == 0 { 0.5 } else { -0.5 })
        .collect();

    let start = Instant::now();
    let mut x = device.upload(&signal)?;
    axpy(&device, 1.0, &device.upload(&noise)?, &mut x)?;
    for _ in 0..ROUNDS {
        x = smooth(&device, &x)?;
    }
    let smoothed = x.to_vec()?;
    let seconds = start.elapsed().as_secs_f64();

    let errors = signal.iter().zip(&smoothed).map(|(a, b)| (a - b).abs());
    let largest = errors.fold(0.0, f32::max);
    println!(
        "{}: {LEN} elements, smoothed {ROUNDS} times, in {seconds:.3} s",
        device.name()
    );
    println!("noise of 0.5 became {largest:.1e} at most");
    Ok(())
}

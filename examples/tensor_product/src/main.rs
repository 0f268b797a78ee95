//! Multiplies two bf16 matrices on the default device, and prints the speed and the error.

use half::bf16;
use std::process::ExitCode;
use std::time::Instant;
use tensor_product::product;
use tilewright::{Device, Result};

/// The number of launches that are timed together.
const LAUNCHES: u32 = 20;

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
    let n = if device.is_simulator() { 256 } else { 4096 };
    let element = |i: usize| bf16::from_f32((i * 7919 % 1021) as f32 / 512.0 - 1.0);
    let data: Vec<bf16> = (0..n * n).map(element).collect();
    let a = device.matrix((n, n), &data)?;

    let c = product(&device, &a, &a)?.to_vec()?;
    let exact = |row: usize, column: usize| -> f64 {
        let (a, b) = (&data[row * n..], &data[column * n..]);
        let products = a.iter().zip(b).take(n);
        products.map(|(a, b)| a.to_f64() * b.to_f64()).sum()
    };
    let error = |i: usize| (f64::from(c[i]) - exact(i / n, i % n)).abs();
    let largest = (0..n * n).step_by(n * n / 1000).map(error).fold(0.0, f64::max);

    device.synchronize()?;
    let start = Instant::now();
    let launches = if device.is_simulator() { 1 } else { LAUNCHES };
    for _ in 0..launches {
        product(&device, &a, &a)?;
    }
    device.synchronize()?;
    let seconds = start.elapsed().as_secs_f64() / f64::from(launches);
    println!(
        "{}: {n}x{n} in {:.3} ms, {:.1} TFLOP/s; the largest error of 1000 outputs is {largest:.1e}",
        device.name(),
        seconds * 1e3,
        2.0 * (n as f64).powi(3) / seconds / 1e12
    );
    Ok(())
}

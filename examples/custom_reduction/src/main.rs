//! Computes the probability of each of a million classes from logits, without overflow.

use custom_reduction::log_sum_exp;
use std::process::ExitCode;
use tilewright::{Device, Result};

/// The number of classes.
const LEN: usize = 1 << 20;

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
    // e^1000 is infinite in f64, too.
    let logits: Vec<f32> = (0..LEN).map(|i| 1000.0 + (i as f32 * 1e-4).sin()).collect();
    let total = log_sum_exp(&device, &device.upload(&logits)?)?;
    let probabilities = logits.iter().map(|x| (f64::from(*x) - total).exp());
    println!(
        "{}: ln(sum of e^x) of {LEN} logits is {total}",
        device.name()
    );
    println!(
        "their probabilities add up to {}",
        probabilities.sum::<f64>()
    );
    Ok(())
}

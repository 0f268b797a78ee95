//! Runs each operation once.

use custom_operations::{KERNELS, kernels};
use std::process::ExitCode;
use tilewright::{Device, Result};

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
    let module = device.load(&KERNELS)?;
    let scores = device.matrix((2, 3), &[1.0_f32, 2.0, 3.0, 0.0, 0.0, 100.0])?;
    let weights = module.map_rows(kernels::soft_softmax, &scores)?;
    println!("softmax of x / 2: {:.3?}", weights.to_vec()?);

    let bias = device.matrix((1, 3), &[0.0_f32, 0.5, 1.0])?;
    let operands = [scores.view(), weights.view(), bias.view()];
    let gated = module.map(kernels::gate, operands)?;
    println!("gated: {:.3?}", gated.to_vec()?);

    let hidden = module.map_product(
        kernels::swiglu,
        (&scores, weights.t()),
        [bias.slice(.., ..1)?],
        &0,
    )?;
    println!("product with SwiGLU: {:.3?}", hidden.to_vec()?);
    let half = [7, 1 << 31];
    let kept = module.map_product(kernels::dropout, (&scores, scores.t()), [], &half)?;
    println!("product with dropout: {:?}", kept.to_vec()?);

    let steps = device.upload(&[[0.5_f32, 8.0], [0.5, 0.0], [2.0, 1.0]])?;
    let states = module.scan_inclusive(kernels::recurrence, &steps)?;
    println!("states: {:?}", states.to_vec()?);

    let (sum, max, norm) = module
        .reduce(kernels::statistics, scores.as_buffer())?
        .get();
    println!("sum {sum}, maximum {max}, norm {norm:.3}");
    Ok(())
}

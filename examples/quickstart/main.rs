//! Sums a million numbers and multiplies two matrices, and checks both against the CPU.
//!
//! ```text
//! cargo run --release -p quickstart [-- --device sim|cuda|cuda:N]
//! ```

#[path = "../support/mod.rs"]
mod support;

use lexopt::prelude::*;
use std::process::ExitCode;
use support::output::print_line;
use support::{Outcome, timed};
use tilewright::{Device, reduce_sum_height};
use tilewright_test_support::random::Random;
use tilewright_test_support::rounding::{gamma, row_of_product};

const USAGE: &str = "usage: quickstart [--device sim|cuda|cuda:N]";

const NUMBERS: usize = 1_000_000;

/// The number of rows and columns of the matrices.
const SIZE: usize = 512;

fn main() -> ExitCode {
    support::run(quickstart)
}

fn quickstart(mut parser: lexopt::Parser) -> Outcome {
    let mut choice = None;
    while let Some(argument) = parser.next()? {
        match argument {
            Long("device") => choice = Some(support::device_choice(&mut parser)?),
            Short('h') | Long("help") => return support::help(USAGE),
            other => return Err(other.unexpected().into()),
        }
    }
    let device = support::open(choice)?;
    print_line(format_args!("device: {}", device.name()))?;
    support::load_kernels(&device)?;
    sum(&device)?;
    multiply(&device)
}

fn sum(device: &Device) -> Outcome {
    let numbers = numbers(NUMBERS, 1);
    let x = device.upload(&numbers)?;
    let (sum, time) = timed(device, || device.reduce_sum(&x))?;

    let expected: f64 = numbers.iter().copied().map(f64::from).sum();
    let magnitude: f64 = numbers.iter().map(|&x| f64::from(x).abs()).sum();
    let error = (f64::from(sum) - expected).abs();
    let bound = gamma::<f32>(reduce_sum_height::<f32>(NUMBERS) as usize) * magnitude;
    print_line(format_args!(
        "reduce_sum of {NUMBERS} f32: {sum} in {time:.1?}; error {error:.1e}, at most {bound:.1e} allowed"
    ))?;
    check(error <= bound, "the sum is wrong")
}

fn multiply(device: &Device) -> Outcome {
    let (a, b) = (numbers(SIZE * SIZE, 2), numbers(SIZE * SIZE, 3));
    let left = device.matrix((SIZE, SIZE), &a)?;
    let right = device.matrix((SIZE, SIZE), &b)?;
    let (product, time) = timed(device, || device.matmul(&left, &right))?;

    let product = product.to_vec()?;
    let (error, bound) = largest_error(&product, &a, &b);
    print_line(format_args!(
        "matmul of {SIZE}x{SIZE} f32: first element {} in {time:.1?}; error {error:.1e}, at most {bound:.1e} allowed",
        product[0]
    ))?;
    check(error <= bound, "the product is wrong")
}

/// The largest error of an element of C = A B relative to its bound gamma_K |A||B|; returns the error and the bound.
fn largest_error(c: &[f32], a: &[f32], b: &[f32]) -> (f64, f64) {
    let rows = a.chunks(SIZE).zip(c.chunks(SIZE));
    let errors = rows.flat_map(|(row, outputs)| {
        row_of_product(row, b)
            .into_iter()
            .zip(outputs)
            .map(|((sum, magnitude), &output)| {
                let bound = gamma::<f32>(SIZE) * magnitude;
                ((f64::from(output) - sum).abs(), bound)
            })
    });
    errors
        .max_by(|x, y| (x.0 / x.1).total_cmp(&(y.0 / y.1)))
        .expect("the matrices are not empty")
}

/// Random numbers from -1 to 1.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    let next = || random.symmetric(23) as f32;
    std::iter::repeat_with(next).take(count).collect()
}

fn check(right: bool, failure: &str) -> Outcome {
    if right { Ok(()) } else { Err(failure.into()) }
}

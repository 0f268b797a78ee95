//! The largest singular value of a matrix in a NumPy file and its direction, by power iteration on the Gram matrix.
//!
//! ```text
//! cargo run --release --example power_iteration -- FILE.npy [-o DIRECTION.npy] [--device sim|cuda|cuda:N]
//! ```
//!
//! The matrix X is converted to f64. Multiplying repeatedly by the Gram matrix G = X' X turns a vector towards the
//! eigenvector of the largest eigenvalue, which is the square of the singular value. Each round copies three numbers
//! to the host.

#[path = "support/npy/mod.rs"]
mod npy;
#[path = "support/progress.rs"]
mod progress;
mod support;

use bytemuck::cast_slice;
use lexopt::prelude::*;
use ndarray::Ix2;
use npy::{ElementType, NpyFile};
use std::path::PathBuf;
use std::process::ExitCode;
use support::output::print_line;
use support::{DEVICE, Outcome};
use tilewright::{Device, Matmul, Matrix};

const USAGE: &str = "usage: power_iteration FILE.npy [-o DIRECTION.npy] [--device sim|cuda|cuda:N]";

const ABOUT: &str = "
Prints the greatest singular value of a matrix, in f8; DIRECTION.npy is its right singular vector.
";

const MOST_ROUNDS: usize = 1000;

/// The residual |G v - value v|, relative to the eigenvalue, at which the iteration ends.
const TOLERANCE: f64 = 1e-10;

fn main() -> ExitCode {
    support::run(power_iteration)
}

fn power_iteration(mut parser: lexopt::Parser) -> Outcome {
    let (mut path, mut output, mut choice) = (None, None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Value(value) if path.is_none() => path = Some(PathBuf::from(value)),
            Short('o') | Long("output") => output = Some(PathBuf::from(parser.value()?)),
            Long("device") => choice = Some(support::device_choice(&mut parser)?),
            Short('h') | Long("help") => return support::help(&[USAGE, ABOUT, DEVICE].concat()),
            other => return Err(other.unexpected().into()),
        }
    }
    let path = path.ok_or_else(|| format!("no file is named; {USAGE}"))?;
    let numbers = NpyFile::read(&path)?;
    let numbers = numbers.to_f64();
    let shape = numbers.shape().to_owned();
    let matrix = numbers.into_dimensionality::<Ix2>().map_err(|_| {
        let path = path.display();
        format!(
            "{path} has the shape {shape:?}; a matrix has two axes: save a.reshape(rows, columns)"
        )
    })?;
    let device = support::open(choice)?;
    let largest = matrix
        .iter()
        .fold(0.0_f64, |largest, it| largest.max(it.abs()));
    if matrix.iter().any(|it| !it.is_finite()) {
        return Err(format!("{} has elements that are not finite", path.display()).into());
    }
    if largest == 0.0 {
        return Err(format!("{} has no direction: all elements are 0", path.display()).into());
    }
    // The Gram matrix has squares: a power of two near the largest element keeps them from an overflow and from 0.
    let exponent = largest.log2().floor() as i32;
    let scaled = |number: f64, exponent: i32| {
        let half = exponent / 2;
        number * 2_f64.powi(half) * 2_f64.powi(exponent - half)
    };
    let matrix = matrix.mapv(|it| scaled(it, -exponent));
    let x = device.matrix_from_array(matrix.view())?;
    let gram = device.gram(&x)?;

    let (value, vector) = progress::during("iterating", || eigenpair(&device, &gram))?;
    let value = scaled(value.sqrt(), exponent);
    print_line(format_args!("singular value {value}"))?;
    if let Some(output) = output {
        npy::write(
            &output,
            ElementType::F64,
            &[vector.len(), 1],
            cast_slice(&vector),
        )?;
    }
    Ok(())
}

/// The largest eigenvalue, and its eigenvector of length 1.
fn eigenpair(device: &Device, gram: &Matrix<f64>) -> Outcome<(f64, Vec<f64>)> {
    // No eigenvector of real data is orthogonal to this start.
    let start: Vec<f64> = (0..gram.rows())
        .map(|i| 1.0 + (i as f64 * 0.7).sin())
        .collect();
    let mut vector = device.matrix((gram.rows(), 1), &start)?;
    let (mut value, mut rounds) = (1.0, 0);
    loop {
        rounds += 1;
        // Divided by the present value, so that the lengths stay the same.
        let product = Matmul::new(gram, &vector).alpha(1.0 / value).run()?;
        let squares = device.reduce_sum_of_squares(vector.as_buffer())?;
        value *= device.reduce_dot(vector.as_buffer(), product.as_buffer())? / squares;
        // G v - value v, in one launch.
        let mut rest = vector.view().to_matrix()?;
        Matmul::new(gram, &vector)
            .beta(-value)
            .run_into(&mut rest)?;
        let residual = device.reduce_norm_2(rest.as_buffer())? / (value * squares.sqrt());
        if residual <= TOLERANCE || rounds == MOST_ROUNDS {
            print_line(format_args!("rounds {rounds}, residual {residual:.1e}"))?;
            let vector = vector.to_vec()?.into_iter().map(|it| it / squares.sqrt());
            return Ok((value, vector.collect()));
        }
        if value == 0.0 || !value.is_finite() {
            return Err(format!("the matrix has no direction: its eigenvalue is {value}").into());
        }
        vector = product;
    }
}

//! The greatest singular value of a matrix in a NumPy file, and the direction of it, by power iteration
//! with its Gram matrix.
//!
//! ```text
//! cargo run --release --example power_iteration -- FILE.npy [-o DIRECTION.npy] [--device sim|cuda|cuda:N]
//! ```
//!
//! The matrix X is of f64. Multiplied by its Gram matrix G = X' X, a vector turns to the eigenvector of
//! the greatest eigenvalue, the square of the singular value. Three numbers of each round come to the
//! host.

mod support;

use lexopt::prelude::*;
use ndarray::Array2;
use ndarray_npy::{read_npy, write_npy};
use std::path::PathBuf;
use std::process::ExitCode;
use support::output::print_line;
use support::{DEVICE, Outcome};
use tilewright::{Device, Matmul, Matrix};

const USAGE: &str = "usage: power_iteration FILE.npy [-o DIRECTION.npy] [--device sim|cuda|cuda:N]";

const ABOUT: &str = "
Prints the greatest singular value of a matrix of f8; DIRECTION.npy is its right singular vector.
";

const MOST_ROUNDS: usize = 1000;

/// The residual |G v - value v| at which it ends, relative to the eigenvalue.
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
    let array: Array2<f64> =
        read_npy(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let device = support::open(choice)?;
    let x = device.matrix_from_array(array.view())?;
    let gram = device.gram(&x)?;

    let (value, vector) = eigenpair(&device, &gram)?;
    print_line(format_args!("singular value {}", value.sqrt()))?;
    if let Some(output) = output {
        write_npy(&output, &vector).map_err(|error| format!("{}: {error}", output.display()))?;
    }
    Ok(())
}

/// The greatest eigenvalue, and its eigenvector of length 1.
fn eigenpair(device: &Device, gram: &Matrix<f64>) -> Outcome<(f64, Array2<f64>)> {
    // No eigenvector of real data is orthogonal to it.
    let start: Vec<f64> = (0..gram.rows())
        .map(|i| 1.0 + (i as f64 * 0.7).sin())
        .collect();
    let mut vector = device.matrix((gram.rows(), 1), &start)?;
    let (mut value, mut rounds) = (1.0, 0);
    loop {
        rounds += 1;
        // Divided by the value so far, so that the lengths stay what they are.
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
            return Ok((value, vector.to_array2()? / squares.sqrt()));
        }
        if value == 0.0 || !value.is_finite() {
            return Err(format!("the matrix has no direction: its eigenvalue is {value}").into());
        }
        vector = product;
    }
}

//! Causal attention of one head, from products and a softmax in place, compared with f64 on the host.
//!
//! ```text
//! cargo run --release --example attention -- [--tokens N] [--device sim|cuda|cuda:N]
//! ```
//!
//! Each token attends to itself and to those before it: weights = softmax(Q K' / sqrt(features) + mask), and the result
//! is weights V. The mask is what the product is added to, so masking takes no launch of its own.

mod support;

use lexopt::prelude::*;
use std::process::ExitCode;
use support::output::print_line;
use support::{DEVICE, Outcome};
use tilewright::{Device, Matmul, Matrix};

const USAGE: &str = "usage: attention [--tokens N] [--device sim|cuda|cuda:N]";

const ABOUT: &str = "
Computes causal attention of one head with 64 features, and prints its largest error against f64.

  --tokens N       the number of tokens, 128 without this option";

const FEATURES: usize = 64;

fn main() -> ExitCode {
    support::run(attention)
}

fn attention(mut parser: lexopt::Parser) -> Outcome {
    let (mut tokens, mut choice) = (128, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("tokens") => tokens = parser.value()?.parse()?,
            Long("device") => choice = Some(support::device_choice(&mut parser)?),
            Short('h') | Long("help") => return support::help(&[USAGE, ABOUT, DEVICE].concat()),
            other => return Err(other.unexpected().into()),
        }
    }
    let device = support::open(choice)?;
    let [q, k, v] = [1, 2, 3].map(|seed| features(tokens, seed));
    let (q, k, v) = (q?, k?, v?);
    let operands = [&q, &k, &v].map(|it| device.matrix((tokens, FEATURES), it));
    let [queries, keys, values] = operands;
    let attended = attend(&device, &queries?, &keys?, &values?)?.to_vec()?;
    let expected = reference(tokens, [&q, &k, &v]);
    let errors = attended
        .iter()
        .zip(&expected)
        .map(|(y, x)| (f64::from(*y) - x).abs());
    let largest = errors.fold(0.0, f64::max);
    print_line(format_args!("{tokens} tokens, largest error {largest:.1e}"))?;
    Ok(())
}

/// softmax(Q K' / sqrt(features) + mask) V.
fn attend(
    device: &Device,
    queries: &Matrix<f32>,
    keys: &Matrix<f32>,
    values: &Matrix<f32>,
) -> Outcome<Matrix<f32>> {
    let tokens = queries.rows();
    let is_later = |place: usize| place % tokens > place / tokens;
    let mask = |place| {
        if is_later(place) {
            f32::NEG_INFINITY
        } else {
            0.0
        }
    };
    let mask = support::numbers(tokens.checked_mul(tokens), mask)?;
    let mut weights = device.matrix((tokens, tokens), &mask)?;
    Matmul::new(queries, keys.t())
        .alpha(1.0 / (FEATURES as f32).sqrt())
        .beta(1.0)
        .run_into(&mut weights)?;
    device.softmax_in_place(&mut weights)?;
    Ok(device.matmul(&weights, values)?)
}

/// Numbers from -2 to 2, the same in every run.
fn features(tokens: usize, seed: usize) -> Outcome<Vec<f32>> {
    let number = |place: usize| 2.0 * ((place as f32 * seed as f32) * 0.7).sin();
    support::numbers(tokens.checked_mul(FEATURES), number)
}

/// The same on the host, in f64.
fn reference(tokens: usize, [q, k, v]: [&[f32]; 3]) -> Vec<f64> {
    let feature = |x: &[f32], token: usize, number: usize| f64::from(x[token * FEATURES + number]);
    let scale = 1.0 / (FEATURES as f64).sqrt();
    let mut attended = Vec::with_capacity(tokens * FEATURES);
    for token in 0..tokens {
        let score = |other: usize| {
            let products = (0..FEATURES).map(|i| feature(q, token, i) * feature(k, other, i));
            (scale * products.sum::<f64>()).exp()
        };
        let weights: Vec<f64> = (0..=token).map(score).collect();
        let sum: f64 = weights.iter().sum();
        for number in 0..FEATURES {
            let values = weights.iter().enumerate();
            let values = values.map(|(other, weight)| weight * feature(v, other, number));
            attended.push(values.sum::<f64>() / sum);
        }
    }
    attended
}

//! The naive reference of norms and variances, over the whole range of a type.

use super::judge::{Rounded, error_of_tree, times_power};
use crate::common::exact::Compensated;

/// Judges the square root of the sum of the squares of `terms`, which are elements of so many bytes.
pub fn judge_norm(terms: &[f64], element_bytes: usize, value: Rounded, case: &str) {
    let magnitudes: Vec<f64> = terms.iter().map(|term| term.abs()).collect();
    if value.is_of_special(&magnitudes, case) {
        return;
    }
    let greatest = magnitudes.iter().copied().fold(0.0, f64::max);
    if greatest == 0.0 {
        assert_eq!(value.value.to_bits(), 0, "{case}");
        return;
    }
    let mut squares = Compensated::default();
    magnitudes
        .iter()
        .for_each(|it| squares.add_product(it / greatest, it / greatest));
    let (sum, lost) = squares.parts();
    let norm = (sum + lost).sqrt();
    let limit = value.greatest / greatest;
    let bound = (error_of_tree(element_bytes, terms.len(), 12) + value.relative) * norm;
    let error = (value.value / greatest - norm).abs();
    let is_near = error <= bound + value.absolute / greatest;
    // Beyond the largest number by little it may stand for the norm; below it no norm is infinite.
    let is_beyond = norm > limit * (1.0 + value.relative.max(2.0_f64.powi(-39)));
    let is_largest = value.value == value.greatest;
    let is_right = match value.value == f64::INFINITY {
        true => norm > limit,
        false => !is_beyond && (is_near || (norm > limit && is_largest)),
    };
    assert!(
        is_right,
        "{} instead of {norm} times {greatest}, {case}",
        value.value
    );
}

/// Judges the variance of `terms`, which are elements of so many bytes.
pub fn judge_variance(terms: &[f64], element_bytes: usize, value: Rounded, case: &str) {
    if terms.is_empty() || terms.iter().any(|term| !term.is_finite()) {
        assert!(value.value.is_nan(), "{} is no NaN, {case}", value.value);
        return;
    }
    // By a power of two to magnitudes around 1, where no square overflows, and none that matters underflows.
    let greatest = terms
        .iter()
        .fold(0.0, |most: f64, term| most.max(term.abs()));
    let exponent = match greatest {
        0.0 => 0,
        _ => -(greatest.log2().floor() as i32),
    };
    let terms: Vec<f64> = terms
        .iter()
        .map(|&term| times_power(term, exponent))
        .collect();
    let value = value.times_power(exponent).times_power(exponent);

    let mut sum = Compensated::default();
    terms.iter().for_each(|term| sum.add(*term));
    let (sum, lost) = sum.parts();
    let len = terms.len() as f64;
    let (mean, rest) = (sum / len, lost / len);
    let mut squares = Compensated::default();
    terms.iter().for_each(|term| {
        let deviation = (term - mean) - rest;
        squares.add_product(deviation, deviation);
    });
    let (squares, lost) = squares.parts();
    let variance = (squares + lost) / len;
    let error = 4.0 * error_of_tree(element_bytes, terms.len(), 4);
    let of_tree = error * (variance * (variance + mean * mean)).sqrt();
    // The second order, rounding the value, and squares that are subnormal: half a unit in each combination.
    let bound =
        of_tree + error * error * mean * mean + value.relative * variance + 3.0 * value.absolute;
    let may_be_infinite = variance + bound > value.greatest;
    if value.value == f64::INFINITY {
        assert!(may_be_infinite, "infinite instead of {variance}, {case}");
        return;
    }
    let error = (value.value - variance).abs();
    assert!(
        error <= bound && variance - bound <= value.greatest,
        "{} instead of {variance}, {error} off, times 2^{}, {case}",
        value.value,
        -2 * exponent
    );
}

//! f64, against values of 240 bits.
//!
//! `double.txt` has a line per value: the function, its arguments' bits in hexadecimal, the bits of the f64 nearest
//! to the result, and the difference between the result and that f64 in units in its last place. `double.py` computes
//! them by mpmath for random arguments of all magnitudes, around zeros and multiples of pi / 2, and for some special
//! angles: 240 for each function in `double.txt`. The errors in `docs/mathematics.md` are from 20 000 values per
//! function, in a file that the variable `DOUBLE_REFERENCE` names:
//!
//! ```text
//! python3 double.py 20000 > large.txt
//! DOUBLE_REFERENCE=$PWD/large.txt cargo test --release -p tilewright-cuda-std --test math double -- --ignored --nocapture
//! ```

use cuda_std::math;
use std::collections::BTreeMap;

/// The largest allowed error.
const BOUND: f64 = 2.0;

const REFERENCE: &str = include_str!("double.txt");

fn ours(name: &str, arguments: &[f64]) -> f64 {
    match (name, arguments) {
        ("rsqrt", &[x]) => math::rsqrt(x),
        ("exp", &[x]) => math::exp(x),
        ("exp2", &[x]) => math::exp2(x),
        ("ln", &[x]) => math::ln(x),
        ("log2", &[x]) => math::log2(x),
        ("tanh", &[x]) => math::tanh(x),
        ("erf", &[x]) => math::erf(x),
        ("erfc", &[x]) => math::erfc(x),
        ("gelu", &[x]) => math::gelu(x),
        ("gelu_tanh", &[x]) => math::gelu_tanh(x),
        ("silu", &[x]) => math::silu(x),
        ("sin", &[x]) => math::sin(x),
        ("cos", &[x]) => math::cos(x),
        ("tan", &[x]) => math::tan(x),
        ("pow", &[x, y]) => math::pow(x, y),
        _ => panic!("{name} of {} arguments", arguments.len()),
    }
}

/// The error in units in the last place of `nearest`, which is `lack` units below the exact result.
fn error(result: f64, nearest: f64, lack: f64) -> f64 {
    if result.is_nan() || result.is_infinite() != nearest.is_infinite() {
        return f64::INFINITY;
    }
    if result == nearest {
        return lack.abs();
    }
    let exponent = ((nearest.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(-1022);
    // In two factors, because the unit of a small number is subnormal.
    let scaled = |value: f64| {
        value * 2.0_f64.powi(26 - exponent / 2) * 2.0_f64.powi(26 - exponent + exponent / 2)
    };
    (scaled(result) - scaled(nearest) - lack).abs()
}

/// The largest error of each function, with its arguments.
fn worst(reference: &str) -> BTreeMap<&str, (f64, Vec<f64>)> {
    let mut worst = BTreeMap::new();
    for line in reference.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [name, numbers @ .., lack] = &fields[..] else {
            panic!("{line}");
        };
        let number = |bits: &&str| f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
        let mut numbers: Vec<f64> = numbers.iter().map(number).collect();
        let nearest = numbers.pop().unwrap();
        let error = error(ours(name, &numbers), nearest, lack.parse().unwrap());
        let entry = worst.entry(*name).or_insert((0.0, Vec::new()));
        if error > entry.0 {
            *entry = (error, numbers);
        }
    }
    worst
}

#[test]
fn errors_of_f64_are_at_most_two_units() {
    let worst = worst(REFERENCE);
    assert_eq!(worst.len(), 15);
    for (name, (error, arguments)) in worst {
        assert!(error <= BOUND, "{name}{arguments:?}: {error} units");
    }
}

#[test]
#[ignore = "needs a file of double.py, which the variable DOUBLE_REFERENCE names"]
fn errors_of_a_larger_file_are_at_most_two_units() {
    let path = std::env::var("DOUBLE_REFERENCE").expect("the variable names a file");
    let reference = std::fs::read_to_string(path).unwrap();
    for (name, (error, arguments)) in worst(&reference) {
        println!("{name}: {error:.4} units at {arguments:?}");
        assert!(error <= BOUND, "{name}{arguments:?}: {error} units");
    }
}

//! Means, variances and norms of elements of all magnitudes, up to the ends of the range of each type.

use super::erased::Operation;
use super::values::Value;
use crate::common::devices;
use crate::common::random::Random;
use half::{bf16, f16};
use std::ops::RangeInclusive;
use tilewright::ops::{Mean, Norm1, Norm2, NormInf, SumOfSquares, Variance};

const LEN: usize = 1000;

/// Elements up to 2^`exponent` in magnitude: of that magnitude and either sign, of about one value, of two values
/// one half after the other, and of all magnitudes below.
fn inputs(random: &mut Random, exponents: &RangeInclusive<i32>, exponent: i32) -> [Vec<f64>; 4] {
    let greatest = |random: &mut Random| 1.0 - random.signed_unit().abs() / 2.0;
    let sign = |random: &mut Random| random.signed_unit().signum();
    let steps = f64::from(exponent - exponents.start());
    let scaled = |x: f64, exponent: i32| {
        x * 2.0_f64.powi(exponent / 2) * 2.0_f64.powi(exponent - exponent / 2)
    };
    let mut fill = |of: &dyn Fn(&mut Random, usize) -> f64| -> Vec<f64> {
        (0..LEN).map(|place| of(random, place)).collect()
    };
    [
        fill(&|random, _| scaled(greatest(random) * sign(random), exponent)),
        fill(&|random, _| scaled(1.0 - random.signed_unit().abs() / 1024.0, exponent)),
        fill(&|_, place| scaled(if place < LEN / 2 { 0.999 } else { -0.998 }, exponent)),
        fill(&|random, _| {
            let below = (random.signed_unit().abs() * steps) as i32;
            scaled(greatest(random) * sign(random), exponent - below)
        }),
    ]
}

/// Judges the model of all inputs, and holds the devices to some.
fn run<T: Value>(
    of: fn(f64) -> T,
    exponents: RangeInclusive<i32>,
    operations: &[&dyn Operation<T>],
) {
    let mut random = Random::new(43);
    let step = (exponents.end() - exponents.start()) / 60 + 1;
    let below = exponents.clone().step_by(step as usize);
    // The largest are all there.
    let largest = exponents.end() - 3..=*exponents.end();
    for (number, exponent) in below.chain(largest).enumerate() {
        for (kind, input) in inputs(&mut random, &exponents, exponent)
            .into_iter()
            .enumerate()
        {
            let input: Vec<T> = input.into_iter().map(of).collect();
            for operation in operations {
                let case = format!("{}, kind {kind}, 2^{exponent}", operation.name());
                let expected = operation.of_buffer(&input, &case);
                if (number + kind).is_multiple_of(8) {
                    for device in devices() {
                        let x = device.upload(&input).unwrap();
                        let found = operation.reduce(&device, x.view()).unwrap();
                        found.assert_same(&expected, &format!("{case}, {device:?}"));
                    }
                }
            }
        }
    }
}

macro_rules! ranges {
    ($($name:ident: $element:ty, $of:expr, $exponents:expr;)*) => {$(
        #[test]
        fn $name() {
            run::<$element>(
                $of,
                $exponents,
                &[&Mean, &Variance, &Norm1, &Norm2, &NormInf, &SumOfSquares],
            );
        }
    )*};
}
ranges! {
    magnitudes_of_f32: f32, |x| x as f32, -149..=128;
    magnitudes_of_f64: f64, |x| x, -1074..=1024;
    magnitudes_of_f16: f16, f16::from_f64, -24..=16;
    magnitudes_of_bf16: bf16, bf16::from_f64, -133..=128;
}

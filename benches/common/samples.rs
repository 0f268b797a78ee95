//! Random input with a known exact sum.

use super::Result;
use half::{bf16, f16};
use tilewright::ReduceElement;
use tilewright_test_support::random::Random;
use tilewright_test_support::rounding::gamma;

/// A type with random values that are integers over one power of two, so that their sum is known
/// exactly.
pub trait Sample: ReduceElement {
    /// The type's name.
    const NAME: &'static str;

    /// A random numerator. Floating-point values are not negative: omitting a part of the input
    /// then changes the sum by more than rounding.
    fn numerator(random: u64) -> i128;

    /// The value of a numerator.
    fn value(numerator: i128) -> Self;

    /// Fails unless `sum` is right for this sum of numerators. A floating-point sum may have the
    /// error of an addition tree of this height.
    fn check(sum: Self::Sum, numerators: i128, height: u32) -> Result;
}

macro_rules! floating_samples {
    ($($element:ident, $sum:ident, $bits:literal;)*) => {$(
        impl Sample for $element {
            const NAME: &'static str = stringify!($element);

            fn numerator(random: u64) -> i128 {
                i128::from(random >> (64 - $bits))
            }

            fn value(numerator: i128) -> Self {
                floating::$element(numerator as f64 / (1_u64 << $bits) as f64)
            }

            fn check(sum: $sum, numerators: i128, height: u32) -> Result {
                let exact = numerators as f64 / (1_u64 << $bits) as f64;
                check_floating(f64::from(sum), exact, gamma::<$sum>(height as usize) * exact)
            }
        }
    )*};
}
// The bits of the significand: every numerator is exact.
floating_samples! {
    f32, f32, 24;
    f64, f64, 53;
    f16, f32, 11;
    bf16, f32, 8;
}

/// Conversions, exact for the values used.
mod floating {
    pub fn f32(value: f64) -> f32 {
        value as f32
    }

    pub fn f64(value: f64) -> f64 {
        value
    }

    pub fn f16(value: f64) -> half::f16 {
        half::f16::from_f64(value)
    }

    pub fn bf16(value: f64) -> half::bf16 {
        half::bf16::from_f64(value)
    }
}

macro_rules! integer_samples {
    ($($element:ident, $sum:ident;)*) => {$(
        impl Sample for $element {
            const NAME: &'static str = stringify!($element);

            fn numerator(random: u64) -> i128 {
                i128::from(random as $element)
            }

            fn value(numerator: i128) -> Self {
                numerator as $element
            }

            fn check(sum: $sum, numerators: i128, _height: u32) -> Result {
                let exact = numerators as $sum;
                if sum == exact {
                    return Ok(());
                }
                Err(format!("wrong answer: {sum} instead of {exact}").into())
            }
        }
    )*};
}
integer_samples! {
    i32, i64;
    u32, u64;
    i64, i64;
    u64, u64;
}

/// Fails unless `found` is within `bound` of `exact`. A NaN fails.
pub fn check_floating(found: f64, exact: f64, bound: f64) -> Result {
    let error = (found - exact).abs();
    if error <= bound {
        return Ok(());
    }
    Err(format!("wrong answer: {found} instead of {exact}, beyond the bound {bound:.3e}").into())
}

/// Fails unless `found` begins with the `exact` numbers, each within the bound that follows from it.
pub fn check_each(found: &[f64], exact: &[f64], bound: impl Fn(f64) -> f64) -> Result {
    for (&found, &exact) in found.iter().zip(exact) {
        check_floating(found, exact, bound(exact))?;
    }
    match found.len() < exact.len() {
        true => Err("there are too few results".into()),
        false => Ok(()),
    }
}

/// Random elements, and the sum of their numerators.
///
/// They repeat after 2^20 elements, which is more than a block reads and quick to generate.
pub fn elements<T: Sample>(len: usize) -> (Vec<T>, i128) {
    const PERIOD: usize = 1 << 20;
    let mut random = Random::new(len as u64);
    let numerators: Vec<i128> = (0..PERIOD.min(len))
        .map(|_| T::numerator(random.bits()))
        .collect();
    let period: Vec<T> = numerators.iter().copied().map(T::value).collect();
    let mut elements = Vec::with_capacity(len);
    let mut sum = 0;
    while elements.len() < len {
        let count = PERIOD.min(len - elements.len());
        elements.extend_from_slice(&period[..count]);
        sum += numerators[..count].iter().sum::<i128>();
    }
    (elements, sum)
}

//! The functions of `math::approximate`, against f64 functions: each within its stated error.

use crate::single::{Function, all_values, samples};
use cuda_std::math::approximate;

/// Bounds in units in the last place. The first three take subnormal arguments for 0.
macro_rules! functions {
    ($($name:ident: $exact:expr, $bound:expr, $measure:ident;)*) => {$(
        mod $name {
            use super::*;

            const FUNCTION: Function = Function {
                name: stringify!($name),
                ours: approximate::$name,
                exact: $exact,
                error: |x, result, exact| $measure(x, result, exact),
                bound: $bound,
            };

            #[test]
            fn errors_of_samples_are_within_the_bound() {
                samples(&FUNCTION);
            }

            #[test]
            #[ignore = "a minute of two cores"]
            fn errors_of_all_values_are_within_the_bound() {
                all_values(&FUNCTION);
            }
        }
    )*};
}
functions! {
    exp_nonpositive: libm::exp, 0.91, of_terms;
    rsqrt: |x| 1.0 / flushed(x).sqrt(), 1.3, units;
    ln: |x| libm::log(flushed(x)), 4.0, units;
    log2: |x| libm::log2(flushed(x)), 6.0, units;
    tanh: libm::tanh, 12.0, units;
    sin: libm::sin, 1.0, of_angles;
    cos: libm::cos, 1.0, of_angles;
}

/// Replaces a subnormal f32 by a zero with its sign.
fn flushed(x: f64) -> f64 {
    match x.abs() < f64::from(f32::MIN_POSITIVE) {
        true => 0.0_f64.copysign(x),
        false => x,
    }
}

fn units(_x: f32, result: f32, exact: f64) -> f64 {
    crate::single::error(result, exact)
}

/// The error of a softmax's term: within 2^-126 below -87, 0 below -87.7, and unspecified for positive numbers. NaN need
/// not be canonical.
fn of_terms(x: f32, result: f32, exact: f64) -> f64 {
    if x > 0.0 {
        return 0.0;
    }
    if x.is_nan() {
        return if result.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let is_near = (f64::from(result) - exact).abs() <= f64::from(f32::MIN_POSITIVE);
    match x < -87.0 {
        true if result.to_bits() == 0 || x >= -87.7 && is_near => 0.0,
        true => f64::INFINITY,
        false => crate::single::error(result, exact),
    }
}

/// The absolute error in units of 2^-23.5 for angles with a bound; for NaN, whether it is the
/// canonical one.
fn of_angles(x: f32, result: f32, exact: f64) -> f64 {
    if result.is_nan() {
        let is_allowed = (x.is_nan() || x.abs() > 65_536.0) && result.to_bits() == 0x7fff_ffff;
        return if is_allowed { 0.0 } else { f64::INFINITY };
    }
    match x.abs() <= 65_536.0 {
        true => (f64::from(result) - exact).abs() * 2.0_f64.powf(23.5),
        false => 0.0,
    }
}

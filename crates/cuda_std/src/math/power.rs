//! x^y = e^(y ln x).

use super::exponential::{exp_f64, exp_of_sum_f64};
use super::logarithm::{ln_f64, ln_in_parts_f64};
use crate::float::Float;
use crate::machine;

/// Computed in f64, whose errors are invisible in f32.
#[inline(always)]
#[track_caller]
pub(super) fn pow_f32(x: f32, y: f32) -> f32 {
    let (x, y) = (f64::from(x), f64::from(y));
    let magnitude = x.abs();
    signed(x, y, exp_f64(y * ln_f64(magnitude))) as f32
}

#[inline(always)]
#[track_caller]
pub(super) fn pow_f64(x: f64, y: f64) -> f64 {
    let magnitude = x.abs();
    let is_finite = magnitude > 0.0 && magnitude < f64::INFINITY;
    let (head, tail) = if is_finite {
        ln_in_parts_f64(magnitude)
    } else {
        (ln_f64(magnitude), 0.0)
    };
    let exponent = y * head;
    let rest = Float::mul_add(y, tail, Float::mul_add(y, head, -exponent));
    signed(x, y, exp_of_sum_f64(exponent, rest))
}

/// x^y, from |x|^y and the special cases of IEEE 754-2019 (9.2.1).
#[inline(always)]
fn signed(x: f64, y: f64, power: f64) -> f64 {
    let is_integer = machine::trunc_f64(y) == y;
    let is_odd = is_integer && machine::trunc_f64(0.5 * y) != 0.5 * y;
    let has_none = x < 0.0 && !is_integer && x > f64::NEG_INFINITY;
    if x == 1.0 || y == 0.0 || (x == -1.0 && y.abs() == f64::INFINITY) {
        1.0
    } else if has_none {
        f64::NAN
    } else if x.is_sign_negative() && is_odd {
        -power
    } else {
        power
    }
}

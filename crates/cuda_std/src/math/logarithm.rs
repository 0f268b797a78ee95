//! Logarithms.
//!
//! x = 2^n (1 + f) with 1 + f from 2/3 to 4/3, and log x = n log 2 + log(1 + f). The large part of
//! this sum is kept with its rounding error. (Cody and Waite, Software Manual for the Elementary
//! Functions, 1980, chapter 5; Dekker, "A floating-point technique for extending the available
//! precision", 1971.)

use super::polynomial::polynomial;
use crate::float::Float;
use core::f32::consts as single;

/// What multiplies subnormal numbers: 2^24.
const LIFT_F32: f32 = 16_777_216.0;

/// n and f of a positive finite number.
#[inline(always)]
fn split_f32(x: f32) -> (f32, f32) {
    let is_small = x < f32::MIN_POSITIVE;
    let (x, lifted) = if is_small {
        (x * LIFT_F32, -24)
    } else {
        (x, 0)
    };
    let two_thirds = (2.0_f32 / 3.0).to_bits();
    // The sign and the exponent of x over 2/3, and nothing of its fraction.
    let exponent = x.to_bits().wrapping_sub(two_thirds) & 0xff80_0000;
    let fraction = f32::from_bits(x.to_bits().wrapping_sub(exponent));
    let n = (exponent as i32 >> 23) + lifted;
    (n as f32, fraction - 1.0)
}

/// (ln(1 + f) - f) / f^2: the error of ln(1 + f) is 2^-27 of it.
#[inline(always)]
#[track_caller]
fn curved_part_f32(f: f32) -> f32 {
    polynomial!(f;
        -0.5,
        0.333_332_15,
        -0.249_997_97,
        0.200_104_46,
        -0.166_805_06,
        0.140_053_06,
        -0.121_839_724,
        0.139_868_97,
        -0.128_930_32,
    )
}

/// The logarithm of 0, of negative numbers, infinity and NaN; of others, `otherwise`.
#[inline(always)]
fn special_f32(x: f32, otherwise: f32) -> f32 {
    if x > 0.0 && x < f32::INFINITY {
        otherwise
    } else if x == 0.0 {
        f32::NEG_INFINITY
    } else if x == f32::INFINITY {
        x
    } else {
        f32::CANONICAL_NAN
    }
}

#[inline(always)]
#[track_caller]
pub(super) fn ln_f32(x: f32) -> f32 {
    let (n, f) = split_f32(x);
    let sum = Float::mul_add(n, single::LN_2, f);
    let error = Float::mul_add(n, single::LN_2, -sum) + f;
    let rest = Float::mul_add(f * f, curved_part_f32(f), error);
    special_f32(x, sum + rest)
}

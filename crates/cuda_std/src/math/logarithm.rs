//! Logarithms.
//!
//! x = 2^n (1 + f) with 1 + f from 2/3 to 4/3, and log x = n log 2 + log(1 + f). The large part of
//! this sum is kept with its rounding error. (Cody and Waite, Software Manual for the Elementary
//! Functions, 1980, chapter 5; Dekker, "A floating-point technique for extending the available
//! precision", 1971.)

use super::polynomial::polynomial;
use super::quadrant::sum_and_rest;
use crate::float::Float;
use core::f32::consts as single;
use core::f64::consts as double;

/// The factor for subnormal numbers: 2^24.
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
    // The sign and exponent of x / (2/3), without the fraction.
    let exponent = x.to_bits().wrapping_sub(two_thirds) & 0xff80_0000;
    let fraction = f32::from_bits(x.to_bits().wrapping_sub(exponent));
    let n = (exponent as i32 >> 23) + lifted;
    (n as f32, fraction - 1.0)
}

/// (ln(1 + f) - f) / f^2. The relative error of ln(1 + f) is 2^-27.
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

/// The logarithm of 0, negative numbers, infinity and NaN, or `otherwise`.
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

/// log2(1 + f) = f log2(e) + (log2(1 + f) - f log2(e)), with the rounding errors of the first product and of its sum
/// with n. The second term's polynomial has an error of 2^-28 relative to the logarithm.
#[inline(always)]
#[track_caller]
pub(super) fn log2_f32(x: f32) -> f32 {
    const LOG2_E_REST: f32 = 1.925_963e-8;
    let (n, f) = split_f32(x);
    let curved_part = polynomial!(f;
        -0.721_347_63,
        0.480_895_52,
        -0.360_661_12,
        0.288_741_92,
        -0.240_915_76,
        0.201_320_66,
        -0.172_895_25,
        0.204_994_77,
        -0.196_716_71,
    );
    let linear = f * single::LOG2_E;
    let sum = n + linear;
    let error = (n - sum) + linear;
    let rest = Float::mul_add(f, single::LOG2_E, -linear) + error;
    let rest = Float::mul_add(f, LOG2_E_REST, rest);
    let rest = Float::mul_add(f * f, curved_part, rest);
    special_f32(x, sum + rest)
}

/// The factor for subnormal numbers: 2^54.
const LIFT_F64: f64 = 18_014_398_509_481_984.0;

/// n and f of a positive finite number, with 1 + f from sqrt(1/2) to sqrt(2).
#[inline(always)]
fn split_f64(x: f64) -> (f64, f64) {
    let is_small = x < f64::MIN_POSITIVE;
    let (x, lifted) = if is_small {
        (x * LIFT_F64, -54)
    } else {
        (x, 0)
    };
    let lowest = double::FRAC_1_SQRT_2.to_bits();
    // The sign and exponent of x divided by the lowest 1 + f, without the fraction.
    let exponent = x.to_bits().wrapping_sub(lowest) & 0xfff0_0000_0000_0000;
    let fraction = f64::from_bits(x.to_bits().wrapping_sub(exponent));
    let n = (exponent as i64 >> 52) as i32 + lifted;
    (f64::from(n), fraction - 1.0)
}

/// ln(1 + f) - f = s (R(s^2) - f) with s = f / (2 + f): twice the area tangent of s without its first term. The
/// relative error of R is 2^-51.
#[inline(always)]
#[track_caller]
fn curved_logarithm_f64(f: f64) -> f64 {
    let s = f / (2.0 + f);
    let square = s * s;
    let series = polynomial!(square;
        0.666_666_666_666_667,
        0.399_999_999_998_989_83,
        0.285_714_286_263_972_1,
        0.222_222_110_541_621_8,
        0.181_828_954_302_005_02,
        0.153_315_038_826_898,
        0.146_192_027_245_748_42,
    );
    s * Float::mul_add(series, square, -f)
}

/// The logarithm of 0, negative numbers, infinity and NaN, or `otherwise`.
#[inline(always)]
fn special_f64(x: f64, otherwise: f64) -> f64 {
    if x > 0.0 && x < f64::INFINITY {
        otherwise
    } else if x == 0.0 {
        f64::NEG_INFINITY
    } else if x == f64::INFINITY {
        x
    } else {
        f64::CANONICAL_NAN
    }
}

/// ln 2 in two parts, the first of 42 bits: its product with n is exact.
const LN_2_HEAD: f64 = 0.693_147_180_559_890_3;
const LN_2_TAIL: f64 = 5.497_923_018_708_371e-14;

#[inline(always)]
#[track_caller]
pub(super) fn ln_f64(x: f64) -> f64 {
    let (n, f) = split_f64(x);
    let whole = n * LN_2_HEAD;
    let sum = whole + f;
    let error = (whole - sum) + f;
    let rest = Float::mul_add(n, LN_2_TAIL, curved_logarithm_f64(f));
    special_f64(x, sum + (rest + error))
}

#[inline(always)]
#[track_caller]
pub(super) fn log2_f64(x: f64) -> f64 {
    const LOG2_E_REST: f64 = 2.035_527_374_093_103_3e-17;
    let (n, f) = split_f64(x);
    let linear = f * double::LOG2_E;
    let sum = n + linear;
    let error = (n - sum) + linear;
    let rest = Float::mul_add(f, double::LOG2_E, -linear) + error;
    let rest = Float::mul_add(f, LOG2_E_REST, rest);
    let rest = Float::mul_add(curved_logarithm_f64(f), double::LOG2_E, rest);
    special_f64(x, sum + rest)
}

/// The logarithm of a positive finite number as the sum of two numbers, with a relative error of 2^-65.
///
/// It is the series of twice the area tangent of s = f / (2 + f), with s, s^2 and the first two terms in two parts.
#[inline(always)]
#[track_caller]
pub(super) fn ln_in_parts_f64(x: f64) -> (f64, f64) {
    const TWO_THIRDS: f64 = 2.0 / 3.0;
    const TWO_THIRDS_REST: f64 = 3.700_743_415_417_188e-17;
    let (n, f) = split_f64(x);
    let divisor = 2.0 + f;
    let divisor_rest = (2.0 - divisor) + f;
    let s = f / divisor;
    let residual = Float::mul_add(-s, divisor, f);
    let s_rest = Float::mul_add(-s, divisor_rest, residual) / divisor;
    let square = s * s;
    let square_rest = Float::mul_add(s, s, -square);
    let square_rest = Float::mul_add(s + s, s_rest, square_rest);
    let series = polynomial!(square;
        2.0 / 5.0,
        2.0 / 7.0,
        2.0 / 9.0,
        2.0 / 11.0,
        2.0 / 13.0,
        2.0 / 15.0,
        2.0 / 17.0,
        2.0 / 19.0,
        2.0 / 21.0,
        2.0 / 23.0,
    );
    let later = series * square;
    let factor = TWO_THIRDS + later;
    let factor_rest = (TWO_THIRDS - factor) + later + TWO_THIRDS_REST;
    let cube = square * s;
    let cube_rest = Float::mul_add(square, s, -cube);
    let cube_rest = Float::mul_add(square_rest, s, Float::mul_add(square, s_rest, cube_rest));
    let bent = cube * factor;
    let bent_rest = Float::mul_add(cube, factor, -bent);
    let bent_rest = Float::mul_add(
        cube_rest,
        factor,
        Float::mul_add(cube, factor_rest, bent_rest),
    );
    // n ln 2 + 2 s + the curved part, from the largest to the smallest.
    let whole = n * LN_2_HEAD;
    let (sum, rest) = sum_and_rest(whole, 2.0 * s);
    let (sum, bent_error) = sum_and_rest(sum, bent);
    let rest = Float::mul_add(2.0, s_rest, rest + bent_error) + bent_rest;
    let rest = Float::mul_add(n, LN_2_TAIL, rest);
    (sum + rest, (sum - (sum + rest)) + rest)
}

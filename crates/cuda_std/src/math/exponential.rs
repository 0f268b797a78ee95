//! e^x and 2^x.
//!
//! x = n ln 2 + r with n the nearest integer, and e^x = 2^n e^r with |r| at most ln 2 / 2. (Cody and
//! Waite, Software Manual for the Elementary Functions, 1980, chapter 6.)

use super::parts::Parts;
use super::polynomial::polynomial;
use crate::float::{Float, larger_or_nan};
use core::f32::consts as single;
use core::f64::consts as double;

/// 1.5 * 2^23: adding it to a number of moderate size rounds that number to an integer, in the last
/// bits of the sum.
const SHIFT_F32: f32 = 12_582_912.0;

/// ln 2 - `LN_2`.
const LN_2_REST_F32: f32 = -1.904_654_2e-9;

/// The integer nearest to x / ln 2, and the remainder of x.
#[inline(always)]
#[track_caller]
fn reduce_f32(x: f32) -> (i32, f32) {
    let shifted = Float::mul_add(x, single::LOG2_E, SHIFT_F32);
    let n = shifted - SHIFT_F32;
    let r = Float::mul_add(n, -single::LN_2, x);
    (integer_f32(shifted), Float::mul_add(n, -LN_2_REST_F32, r))
}

/// e^(x + rest) = s (1 + g) with s a power of two and |g| at most 0.42, for x from -87 to 88.
#[inline(always)]
#[track_caller]
pub(super) fn exp_in_parts_f32(x: f32, rest: f32) -> (f32, f32) {
    let (n, r) = reduce_f32(x);
    let r = r + rest;
    let growth = Float::mul_add(curved_part_f32(r) * r, r, r);
    (power_of_two_f32(n), growth)
}

/// e^(x + rest) = 2^n m: the integer n, and m in two parts, from 0.7 to 1.42. For x from -150 to 88; NaN has
/// the m of NaN.
#[inline(always)]
#[track_caller]
pub(super) fn exp_in_two_parts_f32(x: f32, rest: f32) -> (i32, Parts<f32>) {
    let shifted = Float::mul_add(x, single::LOG2_E, SHIFT_F32);
    let n = shifted - SHIFT_F32;
    // x - n `LN_2` is a multiple of 2^-25 below 1/2, so it is exact.
    let r = Parts::<f32>::sum(
        Float::mul_add(n, -single::LN_2, x),
        Float::mul_add(n, -LN_2_REST_F32, rest),
    );
    let low = Float::mul_add(r.low, r.high, r.low);
    let curved = Float::mul_add(curved_part_f32(r.high) * r.high, r.high, low);
    let power = Parts::<f32>::sum(1.0, r.high);
    let power = Parts::<f32>::sum(power.high, power.low + curved);
    (integer_f32(shifted), power)
}

/// The integer in the last bits of a shifted number; unspecified for NaN.
#[inline(always)]
fn integer_f32(shifted: f32) -> i32 {
    (shifted.to_bits() as i32).wrapping_sub(SHIFT_F32.to_bits() as i32)
}

/// (e^r - 1 - r) / r^2 for |r| at most 0.3467. The error relative to e^r is 2^-28.
#[inline(always)]
#[track_caller]
fn curved_part_f32(r: f32) -> f32 {
    polynomial!(r;
        0.499_999_9,
        0.166_665_21,
        0.041_668_963,
        0.008_368_675,
        0.001_378_250_5,
    )
}

#[inline(always)]
#[track_caller]
pub(super) fn exp_f32(x: f32) -> f32 {
    let (n, r) = reduce_f32(within(x, -104.0, 89.0));
    let tail = Float::mul_add(curved_part_f32(r), r, 1.0);
    scale_f32(Float::mul_add(tail, r, 1.0), n)
}

/// e^x for x up to 0; 0 for x below -126.5 ln 2. The power of two is one factor: a normal number, or 0 for the 2^-127
/// of `LEAST_F32`.
#[inline(always)]
#[track_caller]
pub(super) fn exp_nonpositive_f32(x: f32) -> f32 {
    const LEAST_F32: f32 = -88.0;
    let (n, r) = reduce_f32(larger_or_nan(x, LEAST_F32));
    let tail = Float::mul_add(curved_part_f32(r), r, 1.0);
    Float::mul_add(tail, r, 1.0) * power_of_two_f32(n)
}

#[inline(always)]
#[track_caller]
pub(super) fn exp2_f32(x: f32) -> f32 {
    let x = within(x, -151.0, 129.0);
    let shifted = x + SHIFT_F32;
    let r = x - (shifted - SHIFT_F32);
    // 2^r for |r| at most 1/2, with a relative error of 2^-28.
    let power = polynomial!(r;
        1.0,
        single::LN_2,
        0.240_226_45,
        0.055_503_584,
        0.009_618_829,
        0.001_339_148_6,
        0.000_152_433_77,
    );
    scale_f32(power, integer_f32(shifted))
}

/// Clamps `x`. NaN stays NaN.
#[inline(always)]
fn within(x: f32, low: f32, high: f32) -> f32 {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

/// `x` times 2^`n`, rounded once if |`x`| is about 1: in two factors, because 2^n may be out of
/// range.
#[inline(always)]
fn scale_f32(x: f32, n: i32) -> f32 {
    let [power, other] = two_powers_f32(n);
    x * power * other
}

/// Two powers of two whose product is 2^`n`.
#[inline(always)]
pub(super) const fn two_powers_f32(n: i32) -> [f32; 2] {
    let half = n >> 1;
    [
        power_of_two_f32(half),
        power_of_two_f32(n.wrapping_sub(half)),
    ]
}

/// 2^`n`, from 2^-126 to 2^127.
#[inline(always)]
const fn power_of_two_f32(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// 1.5 * 2^52: adding it to a number of moderate size rounds that number to an integer.
const SHIFT_F64: f64 = 6_755_399_441_055_744.0;

/// ln 2 - `LN_2`.
const LN_2_REST_F64: f64 = 2.319_046_813_846_299_6e-17;

/// The integer nearest to x / ln 2, unspecified for NaN, and the remainder of x.
#[inline(always)]
#[track_caller]
fn reduce_f64(x: f64) -> (i32, f64) {
    let shifted = Float::mul_add(x, double::LOG2_E, SHIFT_F64);
    let n = shifted - SHIFT_F64;
    let r = Float::mul_add(n, -double::LN_2, x);
    let r = Float::mul_add(n, -LN_2_REST_F64, r);
    (shifted.to_bits() as i32, r)
}

/// (e^r - 1) / r.
#[inline(always)]
#[track_caller]
fn slope_f64(r: f64) -> f64 {
    Float::mul_add(curved_part_f64(r), r, 1.0)
}

/// (e^r - 1 - r) / r^2 by its Taylor series: |r| is at most 0.3467, so terms of e^r past the 13th
/// power are below 2^-57.
#[inline(always)]
#[track_caller]
fn curved_part_f64(r: f64) -> f64 {
    const fn inverse_factorial(n: u64) -> f64 {
        let (mut factorial, mut k) = (1, 1);
        while k < n {
            k += 1;
            factorial *= k;
        }
        1.0 / factorial as f64
    }
    polynomial!(r;
        const { inverse_factorial(2) },
        const { inverse_factorial(3) },
        const { inverse_factorial(4) },
        const { inverse_factorial(5) },
        const { inverse_factorial(6) },
        const { inverse_factorial(7) },
        const { inverse_factorial(8) },
        const { inverse_factorial(9) },
        const { inverse_factorial(10) },
        const { inverse_factorial(11) },
        const { inverse_factorial(12) },
        const { inverse_factorial(13) },
    )
}

#[inline(always)]
#[track_caller]
pub(super) fn exp_f64(x: f64) -> f64 {
    exp_of_sum_f64(x, f64::NEGATIVE_ZERO)
}

/// e^(x + rest), with |rest| much smaller than 1.
#[inline(always)]
#[track_caller]
pub(super) fn exp_of_sum_f64(x: f64, rest: f64) -> f64 {
    let rest = if x.abs() < 750.0 { rest } else { 0.0 };
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let (n, r) = reduce_f64(x);
    let r = r + rest;
    scale_f64(Float::mul_add(slope_f64(r), r, 1.0), n)
}

/// e^x = s (1 + g) with s a power of two and |g| at most 0.42, for x from -708 to 709.
#[inline(always)]
#[track_caller]
pub(super) fn exp_in_parts_f64(x: f64) -> (f64, f64) {
    let (n, r) = reduce_f64(x);
    (power_of_two_f64(n), slope_f64(r) * r)
}

/// e^(x + rest) = 2^n m: the integer n, and m in two parts, from 0.7 to 1.42. For x from -1000 to 709; NaN
/// has the m of NaN.
#[inline(always)]
#[track_caller]
pub(super) fn exp_in_two_parts_f64(x: f64, rest: f64) -> (i32, Parts<f64>) {
    let shifted = Float::mul_add(x, double::LOG2_E, SHIFT_F64);
    let n = shifted - SHIFT_F64;
    // Exact, as for f32.
    let r = Parts::<f64>::sum(
        Float::mul_add(n, -double::LN_2, x),
        Float::mul_add(n, -LN_2_REST_F64, rest),
    );
    let low = Float::mul_add(r.low, r.high, r.low);
    let curved = Float::mul_add(curved_part_f64(r.high) * r.high, r.high, low);
    let power = Parts::<f64>::sum(1.0, r.high);
    let power = Parts::<f64>::sum(power.high, power.low + curved);
    (shifted.to_bits() as i32, power)
}

#[inline(always)]
#[track_caller]
pub(super) fn exp2_f64(x: f64) -> f64 {
    let x = if x > 1025.0 { 1025.0 } else { x };
    let x = if x < -1076.0 { -1076.0 } else { x };
    let shifted = x + SHIFT_F64;
    let r = x - (shifted - SHIFT_F64);
    // 2^r for |r| at most 1/2, with a relative error of 2^-57.
    let power = polynomial!(r;
        1.0,
        double::LN_2,
        0.240_226_506_959_101_36,
        0.055_504_108_664_822_33,
        0.009_618_129_107_592_572,
        0.001_333_355_814_635_870_5,
        0.000_154_035_304_587_880_97,
        1.525_273_382_879_197e-5,
        1.321_543_454_107_482_8e-6,
        1.017_807_664_142_246_2e-7,
        7.073_898_733_637_242e-9,
        4.451_512_654_753_768e-10,
    );
    scale_f64(power, shifted.to_bits() as i32)
}

/// `x` times 2^`n`, rounded once if |`x`| is about 1.
#[inline(always)]
fn scale_f64(x: f64, n: i32) -> f64 {
    let [power, other] = two_powers_f64(n);
    x * power * other
}

/// Two powers of two whose product is 2^`n`.
#[inline(always)]
pub(super) const fn two_powers_f64(n: i32) -> [f64; 2] {
    let half = n >> 1;
    [
        power_of_two_f64(half),
        power_of_two_f64(n.wrapping_sub(half)),
    ]
}

/// 2^`n`, from 2^-1022 to 2^1023.
#[inline(always)]
const fn power_of_two_f64(n: i32) -> f64 {
    f64::from_bits((n.wrapping_add(1023) as u64) << 52)
}

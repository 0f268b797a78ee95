//! f32 functions with fewer instructions and larger errors than those of [`math`](super).
//!
//! ```
//! use cuda_std::math::approximate;
//! use cuda_std::prelude::*;
//!
//! /// Scales each pair of elements to the length 1.
//! #[kernel]
//! pub fn normalise(x: GlobalMut<f32>, y: GlobalMut<f32>) {
//!     let i = thread::unique_index();
//!     let (x, y) = (x.own(i), y.own(thread::unique_index()));
//!     if let (Some(x), Some(y)) = (x, y) {
//!         let scale = approximate::rsqrt(x.get().mul_add(x.get(), y.get() * y.get()));
//!         x.set(scale * x.get());
//!         y.set(scale * y.get());
//!     }
//! }
//! ```
//!
//! They use IEEE 754 arithmetic in a fixed order, so unlike a GPU's special function unit they return the same bits
//! on every GPU and in the simulator. Every NaN is the canonical one, unless a function says otherwise. Stated errors
//! are the largest over all f32 values.
//!
//! `exp2` and 1 / x have no approximate version, because the accurate ones take about as few instructions: a GPU
//! computes 1 / x in eight if neither x nor the result is subnormal. Neither has `exp`, except for arguments up to 0.

use super::exponential::exp_nonpositive_f32;
use super::polynomial::polynomial;
use super::reciprocal::reciprocal_f32;
use crate::float::Float;

/// 1 / sqrt(`x`), to 1.3 units in the last place. Subnormal numbers count as 0, whose result is infinite with its
/// sign. NaN for negative numbers.
///
/// A constant minus half of the bits estimates the result to 3.5 percent (Lomont, "Fast inverse square root"). A
/// third-order step and a Newton step correct it.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn rsqrt(x: f32) -> f32 {
    let estimate = f32::from_bits(0x5f37_59df_u32.wrapping_sub(x.to_bits() >> 1));
    let lack = Float::mul_add(-(x * estimate), estimate, 1.0);
    let factor = Float::mul_add(lack, 0.375, 0.5);
    let estimate = Float::mul_add(lack * estimate, factor, estimate);
    let lack = Float::mul_add(-(x * estimate), estimate, 1.0);
    let root = Float::mul_add(0.5 * estimate, lack, estimate);
    // In this order NaN reaches the last line.
    let root = if x > f32::MAX { 0.0 } else { root };
    let root = if x.abs() < f32::MIN_POSITIVE {
        f32::INFINITY.copysign(x)
    } else {
        root
    };
    if x > -f32::MIN_POSITIVE {
        root
    } else {
        f32::CANONICAL_NAN
    }
}

/// e^`x` for `x` up to 0, the term of a softmax: to 0.9 units in the last place from -87 on, within 2^-126 below, and 0
/// from -87.7 on.
///
/// Results for positive `x` are unspecified. NaN stays NaN, but need not become the canonical one: the sum that the
/// term goes into decides.
///
/// ```
/// use cuda_std::math::{approximate, exp};
///
/// assert_eq!(approximate::exp_nonpositive(0.0), 1.0);
/// assert_eq!(approximate::exp_nonpositive(-3.5), exp(-3.5_f32));
/// assert_eq!(approximate::exp_nonpositive(f32::NEG_INFINITY), 0.0);
/// ```
#[inline(always)]
#[track_caller]
#[must_use]
pub fn exp_nonpositive(x: f32) -> f32 {
    exp_nonpositive_f32(x)
}

/// The natural logarithm, to 4 units in the last place. Subnormal numbers count as 0, whose result is negative
/// infinity. NaN for negative numbers.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn ln(x: f32) -> f32 {
    let (exponent, fraction) = exponent_and_fraction(x);
    // ln(1 + f) / f, with a relative error of 2^-22.
    let quotient = polynomial!(fraction;
        0.999_999_94,
        -0.500_003_64,
        0.333_350_6,
        -0.249_699_1,
        0.199_001_73,
        -0.172_508_48,
        0.162_225_25,
        -0.101_067_64,
    );
    let logarithm = Float::mul_add(exponent, core::f32::consts::LN_2, fraction * quotient);
    with_ends_of_logarithm(x, logarithm)
}

/// The logarithm to base 2, to 6 units in the last place. Subnormal numbers count as 0, whose result is negative
/// infinity. NaN for negative numbers.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn log2(x: f32) -> f32 {
    let (exponent, fraction) = exponent_and_fraction(x);
    // log2(1 + f) / f, with a relative error of 2^-22.
    let quotient = polynomial!(fraction;
        1.442_694_9,
        -0.721_352_8,
        0.480_923_24,
        -0.360_239_63,
        0.287_098_82,
        -0.248_877_14,
        0.234_041_56,
        -0.145_809_78,
    );
    let logarithm = Float::mul_add(fraction, quotient, exponent);
    with_ends_of_logarithm(x, logarithm)
}

/// k and f of a normal number x = 2^k (1 + f), with 1 + f between sqrt(1/2) and sqrt(2).
#[inline(always)]
fn exponent_and_fraction(x: f32) -> (f32, f32) {
    const SQRT_HALF: u32 = core::f32::consts::FRAC_1_SQRT_2.to_bits();
    const SIGNIFICAND: u32 = (1 << 23) - 1;
    let above = x.to_bits().wrapping_sub(SQRT_HALF);
    let fraction = f32::from_bits((above & SIGNIFICAND) + SQRT_HALF) - 1.0;
    ((above as i32 >> 23) as f32, fraction)
}

/// A logarithm of x, with its values for 0, infinity, negative numbers and NaN.
#[inline(always)]
fn with_ends_of_logarithm(x: f32, logarithm: f32) -> f32 {
    let logarithm = if x > f32::MAX { x } else { logarithm };
    let logarithm = if x < f32::MIN_POSITIVE {
        f32::NEG_INFINITY
    } else {
        logarithm
    };
    if x > -f32::MIN_POSITIVE {
        logarithm
    } else {
        f32::CANONICAL_NAN
    }
}

/// The sine of `x` radians, for |`x`| up to 65 536.
///
/// The absolute error is at most 2^-23.5, which near multiples of pi is many units in the last
/// place. Beyond 65 536 the result has no bound, and may be NaN.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn sin(x: f32) -> f32 {
    let (angle, quarters) = angle_and_quarters(x);
    of_quarter(angle, quarters)
}

/// The cosine of `x` radians, with the errors of [`sin`].
#[inline(always)]
#[track_caller]
#[must_use]
pub fn cos(x: f32) -> f32 {
    let (angle, quarters) = angle_and_quarters(x);
    of_quarter(angle, quarters.wrapping_add(1))
}

/// The remainder of x from the nearest multiple of pi / 2, and the low bits of that multiple. pi / 2 is in two parts
/// (Cody and Waite, "Software manual for the elementary functions").
#[inline(always)]
#[track_caller]
fn angle_and_quarters(x: f32) -> (f32, u32) {
    /// 1.5 * 2^23: a sum with it has no fraction bits.
    const INTEGERS: f32 = 12_582_912.0;
    /// pi / 2 - HALF_PI.
    const REST: f32 = -4.371_139e-8;
    let shifted = Float::mul_add(x, core::f32::consts::FRAC_2_PI, INTEGERS);
    let multiple = shifted - INTEGERS;
    let angle = Float::mul_add(multiple, -core::f32::consts::FRAC_PI_2, x);
    (Float::mul_add(multiple, -REST, angle), shifted.to_bits())
}

/// The sine of a number of quarter turns plus an angle within pi / 4.
#[inline(always)]
#[track_caller]
fn of_quarter(angle: f32, quarters: u32) -> f32 {
    let square = angle * angle;
    // (sin(x) - x) / x^3; the error of the sine is 2^-29.
    let cubic = polynomial!(square; -0.166_666_51, 0.008_331_979, -0.000_194_956_35);
    let sine = Float::mul_add(angle * square, cubic, angle);
    // (cos(x) - 1 + x^2 / 2) / x^4; the error of the cosine is 2^-33.
    let quartic = polynomial!(square; 0.041_666_646, -0.001_388_736_8, 2.443_845e-5);
    let cosine = Float::mul_add(square, Float::mul_add(square, quartic, -0.5), 1.0);
    let value = if quarters & 1 == 0 { sine } else { cosine };
    f32::from_bits(value.to_bits() ^ (quarters & 2) << 30).canonical_nan()
}

/// The hyperbolic tangent, to 12 units in the last place.
///
/// A quotient of polynomials. The reciprocal is estimated from the bits and corrected as in [`rsqrt`]. From 9.011 the
/// result is 1.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn tanh(x: f32) -> f32 {
    const ALMOST_ONE: f32 = 9.011;
    let magnitude = x.abs();
    let magnitude = if magnitude < ALMOST_ONE {
        magnitude
    } else {
        ALMOST_ONE
    };
    let square = magnitude * magnitude;
    // tanh(x) / x, with a relative error of 2^-21.
    let numerator =
        polynomial!(square; 0.999_999_64, 0.128_343_03, 0.002_854_019_6, 1.041_313_2e-5);
    let denominator = polynomial!(square;
        1.0,
        0.461_673_47,
        0.023_415_508,
        0.000_225_139_05,
        2.142_337_7e-7,
    );
    let quotient = magnitude * numerator * reciprocal_f32(denominator);
    let bounded = if quotient < 1.0 { quotient } else { 1.0 };
    let tangent = bounded.copysign(x);
    if x.is_nan() {
        f32::CANONICAL_NAN
    } else {
        tangent
    }
}

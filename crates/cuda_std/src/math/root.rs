//! Square roots.

use crate::float::Float;
use crate::machine;

/// The square root. NaN is detected by its bits: from a comparison LLVM would conclude that the
/// root of a negative number is already NaN, and keep the machine's NaN.
#[inline(always)]
pub(super) fn sqrt_f32(x: f32) -> f32 {
    let root = machine::sqrt_f32(x);
    let is_nan = root.to_bits() << 1 > f32::INFINITY.to_bits() << 1;
    if is_nan { f32::CANONICAL_NAN } else { root }
}

/// 1 / sqrt(x), corrected by a step of Newton's method whose residual is exact up to its last
/// rounding.
#[inline(always)]
#[track_caller]
pub(super) fn rsqrt_f32(x: f32) -> f32 {
    let estimate = 1.0 / machine::sqrt_f32(x);
    let product = x * estimate;
    let error = Float::mul_add(x, estimate, -product);
    let residual = Float::mul_add(-product, estimate, 1.0);
    let residual = Float::mul_add(-error, estimate, residual);
    let corrected = Float::mul_add(0.5 * residual, estimate, estimate);
    // For 0, infinity and numbers without a root, the estimate is the result.
    if x > 0.0 && x < f32::INFINITY {
        corrected
    } else {
        estimate
    }
}

#[inline(always)]
pub(super) fn sqrt_f64(x: f64) -> f64 {
    let root = machine::sqrt_f64(x);
    let is_nan = root.to_bits() << 1 > f64::INFINITY.to_bits() << 1;
    if is_nan { f64::CANONICAL_NAN } else { root }
}

#[inline(always)]
#[track_caller]
pub(super) fn rsqrt_f64(x: f64) -> f64 {
    let estimate = 1.0 / machine::sqrt_f64(x);
    let product = x * estimate;
    let error = Float::mul_add(x, estimate, -product);
    let residual = Float::mul_add(-product, estimate, 1.0);
    let residual = Float::mul_add(-error, estimate, residual);
    let corrected = Float::mul_add(0.5 * residual, estimate, estimate);
    if x > 0.0 && x < f64::INFINITY {
        corrected
    } else {
        estimate
    }
}

//! 1 / x without a division. On a GPU a division has a branch and, for f64, a call.
//!
//! A constant minus the bits estimates the result to 6 percent, as in Lomont's "Fast inverse square root". One step
//! that triples the correct digits and others that double them refine it.

use crate::float::Float;

/// 1 / x of a positive number that is neither large nor small, to 1.2 units in the last place.
#[inline(always)]
#[track_caller]
pub(super) fn reciprocal_f32(x: f32) -> f32 {
    let estimate = f32::from_bits(0x7ef3_11c7_u32.wrapping_sub(x.to_bits()));
    let lack = Float::mul_add(-x, estimate, 1.0);
    let estimate = Float::mul_add(estimate, Float::mul_add(lack, lack, lack), estimate);
    let lack = Float::mul_add(-x, estimate, 1.0);
    Float::mul_add(estimate, lack, estimate)
}

/// 1 / x of a positive number that is neither large nor small, to a unit in the last place.
#[inline(always)]
#[track_caller]
pub(super) fn reciprocal_f64(x: f64) -> f64 {
    let estimate = f64::from_bits(0x7fde_6238_22fc_16e6_u64.wrapping_sub(x.to_bits()));
    let lack = Float::mul_add(-x, estimate, 1.0);
    let estimate = Float::mul_add(estimate, Float::mul_add(lack, lack, lack), estimate);
    let lack = Float::mul_add(-x, estimate, 1.0);
    let estimate = Float::mul_add(estimate, Float::mul_add(lack, lack, lack), estimate);
    let lack = Float::mul_add(-x, estimate, 1.0);
    Float::mul_add(estimate, lack, estimate)
}

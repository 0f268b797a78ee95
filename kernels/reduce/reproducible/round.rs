//! Rounds digits to a float.

use super::format::{DIGIT_BITS, Format, SPECIALS};
use cuda_std::hint;

/// Splits `count` units, `offset` bits above the lowest, into digits: an index, and the summands of that digit and
/// the next two.
#[inline(always)]
#[must_use]
pub fn digit_parts(count: i64, offset: usize) -> (usize, [i64; 3]) {
    let shift = offset % DIGIT_BITS;
    let low = (count as u64) << shift;
    let parts = [
        i64::from(low as u32),
        (low >> DIGIT_BITS) as i64,
        (count >> DIGIT_BITS) >> (DIGIT_BITS - shift),
    ];
    (offset / DIGIT_BITS, parts)
}

/// The sum of carried digits, or of the specials if any count is not 0.
///
/// `specials` counts NaN, infinity and negative infinity.
#[inline(always)]
#[must_use]
pub fn finish<F: Format>(digit: impl Fn(usize) -> u32, specials: [u64; SPECIALS]) -> F {
    match specials {
        [0, 0, 0] => round(digit),
        [0, _, 0] => F::from_wide_bits(F::INFINITY_BITS),
        [0, 0, _] => F::from_wide_bits(F::INFINITY_BITS | sign_bit::<F>()),
        _ => F::CANONICAL_NAN,
    }
}

#[inline(always)]
fn sign_bit<F>() -> u64 {
    1 << (8 * size_of::<F>() - 1)
}

/// Rounds the integer of these digits, times the least subnormal, to the nearest float, ties to even. Infinity if it
/// exceeds the format.
#[inline(always)]
fn round<F: Format>(digit: impl Fn(usize) -> u32) -> F {
    let is_negative = digit(F::DIGITS - 1) >> (DIGIT_BITS - 1) == 1;
    // Not unrolled: one thread runs these loops, once.
    let digits = hint::opaque_size(F::DIGITS);
    let mut lowest = 0;
    while lowest < digits && digit(lowest) == 0 {
        lowest += 1;
    }
    if lowest == digits {
        return F::ZERO;
    }
    // The digits of the magnitude. Negation is the complement plus 1, which carries up to the
    // lowest nonzero digit.
    let digit = |index: usize| match is_negative {
        _ if index < lowest => 0,
        false => digit(index),
        true if index == lowest => digit(index).wrapping_neg(),
        true => !digit(index),
    };
    let mut highest = digits - 1;
    while digit(highest) == 0 {
        highest -= 1;
    }
    let below = |distance: usize| match highest.checked_sub(distance) {
        Some(index) => u64::from(digit(index)),
        None => 0,
    };
    let zeros = digit(highest).leading_zeros();
    let third = below(2) << zeros;
    let leading = (below(0) << DIGIT_BITS | below(1)) << zeros | third >> DIGIT_BITS;
    let is_more = third as u32 != 0 || lowest + 2 < highest;

    let length = (highest + 1) as u32 * DIGIT_BITS as u32 - zeros;
    let magnitude = match length.checked_sub(F::PRECISION) {
        // Subnormals, and normal numbers of the same spacing, are multiples of the least subnormal
        // in order of their bits.
        None => leading >> (u64::BITS - length),
        Some(exponent) => {
            let significand = round_significand(leading, is_more, u64::BITS - F::PRECISION);
            // The significand's leading bit adds one to the exponent; so does rounding up to the next power of two.
            let bits = (u64::from(exponent) << (F::PRECISION - 1)) + significand;
            bits.min(F::INFINITY_BITS)
        }
    };
    F::from_wide_bits(magnitude | if is_negative { sign_bit::<F>() } else { 0 })
}

/// Drops the last `dropped` bits of `leading`, rounding to nearest, ties to even. `is_more` means that further bits
/// follow.
#[inline(always)]
fn round_significand(leading: u64, is_more: bool, dropped: u32) -> u64 {
    let significand = leading >> dropped;
    let rest = leading << (u64::BITS - dropped);
    let half = 1 << (u64::BITS - 1);
    let goes_up = rest > half || (rest == half && (is_more || significand % 2 == 1));
    significand + u64::from(goes_up)
}

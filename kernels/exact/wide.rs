//! Signed integers of several 32-bit words, in two's complement, the lowest word first.

use super::element::ExactElement;

/// The words of `sum`, whose limbs have weights as words have but may be any number of up to 62 bits.
#[inline(always)]
pub fn carried<const WORDS: usize>(sum: [i64; WORDS]) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    let (mut carry, mut i) = (0, 0);
    while i < WORDS {
        carry += sum[i];
        words[i] = carry as u32;
        carry >>= 32;
        i += 1;
    }
    words
}

/// `x * 2^exponent`, rounded to the nearest, ties to even, if all numbers that differ from x by at most
/// `bound * 2^(32 first)` are rounded to the same one. Zero is positive.
#[inline(always)]
pub fn rounded_if_certain<T: ExactElement, const WORDS: usize>(
    x: [u32; WORDS],
    (bound, first): (u64, usize),
    exponent: i32,
) -> Option<T> {
    let is_negative = (x[WORDS - 1] as i32) < 0;
    let mut words = x;
    if is_negative {
        let (mut carry, mut i) = (1, 0);
        while i < WORDS {
            carry += u64::from(!words[i]);
            words[i] = carry as u32;
            carry >>= 32;
            i += 1;
        }
    }
    // Moved up until the highest word is not 0.
    let (mut lowest, mut step) = (32 * (WORDS as i32 - 2), 1);
    while step < WORDS {
        if words[WORDS - 1] == 0 {
            let mut i = WORDS - 1;
            while i > 0 {
                words[i] = words[i - 1];
                i -= 1;
            }
            words[0] = 0;
            lowest -= 32;
        }
        step += 1;
    }
    if words[WORDS - 1] == 0 {
        return if bound == 0 { Some(T::ZERO) } else { None };
    }
    let (mut is_inexact, mut i) = (false, 0);
    while i < WORDS - 3 {
        is_inexact |= words[i] != 0;
        i += 1;
    }
    let high = u64::from(words[WORDS - 1]) << 32 | u64::from(words[WORDS - 2]);
    let next = u64::from(words[WORDS - 3]) << 32;
    let left = high.leading_zeros();
    // At most 63 bits are shifted at a time.
    let significand = high << left | (next >> (63 - left)) >> 1;
    is_inexact |= next << left != 0;
    // The significand's lowest bit is bit `lowest` of x.
    lowest -= left as i32;
    let exponent = exponent + lowest;
    if bound != 0 && !is_certain::<T>(significand, (bound, 32 * first as i32 - lowest), exponent) {
        return None;
    }
    Some(T::rounded(significand, exponent, is_inexact).with_sign(is_negative))
}

/// Whether all numbers that differ from `significand`, and what follows it, by at most `bound * 2^shift` are rounded to
/// the same one.
///
/// It is certain if no such number reaches the middle between two numbers of the type. Below a power of two these are
/// half as far apart, so the numbers must also stay nearer to it than a quarter of the distance above it.
#[inline(always)]
fn is_certain<T: ExactElement>(
    significand: u64,
    (bound, shift): (u64, i32),
    exponent: i32,
) -> bool {
    let dropped = T::dropped(exponent);
    if dropped > 63 || shift > 0 {
        return false;
    }
    // Rounded up, and 1 for the bits that follow the significand.
    let right = -shift;
    let radius = if right > 63 { 0 } else { bound >> right };
    let radius = radius.saturating_add(2);
    let half = 1 << (dropped - 1);
    let rest = significand & (2 * half - 1);
    radius < half / 2 && rest.abs_diff(half) > radius
}

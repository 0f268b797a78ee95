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
    // The highest word that is not 0, and the two below it.
    let (mut window, mut top, mut i) = ([words[2], words[1], words[0]], 2, 3);
    while i < WORDS {
        if words[i] != 0 {
            window = [words[i], words[i - 1], words[i - 2]];
            top = i as i32;
        }
        i += 1;
    }
    let mut high = u64::from(window[0]) << 32 | u64::from(window[1]);
    let mut next = u64::from(window[2]) << 32;
    let mut lowest = 32 * (top - 1);
    if window[0] == 0 {
        // Only if there is no higher word: the integer has 64 bits at most.
        high = high << 32 | next >> 32;
        (next, lowest) = (0, lowest - 32);
    }
    if high == 0 {
        return if bound == 0 { Some(T::ZERO) } else { None };
    }
    let left = high.leading_zeros();
    // At most 63 bits are shifted at a time.
    let significand = high << left | (next >> (63 - left)) >> 1;
    // Only ties depend on it, which are not certain unless the integer is exact.
    let mut is_inexact = true;
    if bound == 0 {
        is_inexact = next << left != 0;
        let mut i = 0;
        while i + 3 < WORDS {
            is_inexact |= words[i] != 0 && (i as i32) < top - 2;
            i += 1;
        }
    }
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

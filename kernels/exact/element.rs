//! f32 and f64 as integers times powers of two.

use super::moduli::power_of_two;
use crate::epilogue::EpilogueElement;
use crate::finish::FromSum;
use cuda_std::float::Float;

/// A number as a signed integer times a power of two.
#[derive(Clone, Copy)]
pub struct Parts {
    pub significand: i64,
    pub exponent: i32,
}

/// An element type of exact products.
pub trait ExactElement: EpilogueElement + FromSum<Self> {
    /// Bits of a significand.
    const PRECISION: u32;

    /// The most bits of an operand's integers.
    const MOST_BITS: u32;

    /// Limbs of [`Weights`](super::Weights) that a product takes.
    const LIMBS: usize;

    /// Infinity.
    const INFINITY: Self;

    /// The canonical NaN.
    const NAN: Self;

    /// The parts of a finite number; `None` of infinity and NaN.
    fn parts(self) -> Option<Parts>;

    /// The same number.
    fn to_f64(self) -> f64;

    /// Whether it is NaN.
    fn is_nan(self) -> bool;

    /// The number, negated if `is_negative`.
    #[must_use]
    fn with_sign(self, is_negative: bool) -> Self;

    /// `significand * 2^exponent`, rounded to the nearest, ties to even. The significand has its highest bit set. The
    /// exact number is greater by less than 2^exponent if `is_inexact`.
    fn rounded(significand: u64, exponent: i32, is_inexact: bool) -> Self;

    /// `(high + low) * 2^exponent`, rounded to the nearest, ties to even, but for f64 below the normal numbers. Zero is
    /// positive, unless both are negative.
    fn of_sum(high: f64, low: f64, exponent: i32) -> Self;

    /// Whether [`of_sum`](Self::of_sum) rounded this result once, unless it is exactly 0.
    fn is_rounded_once(self) -> bool;
}

/// `x * 2^exponent`, rounded once for normal results.
#[inline(always)]
pub fn scaled(x: f64, exponent: i32) -> f64 {
    let half = exponent >> 1;
    x * power_of_two(half) * power_of_two(exponent - half)
}

/// An integer of up to 84 bits in signed digits of 8 bits.
///
/// `value * 2^shift` is rounded to the nearest integer. For two words, it has 60 bits at most.
#[inline(always)]
pub fn digits<const WORDS: usize>(value: f64, shift: i32) -> [i32; WORDS] {
    /// 1.5 * 2^52: a sum with it has no fraction bits.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    const LOW: i32 = 42;
    let integer = |x: f64| (x + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits()) as i64;
    let value = scaled(value, shift);
    let high = (value * power_of_two(-LOW) + ROUNDER) - ROUNDER;
    let low = Float::mul_add(high, -power_of_two(LOW), value);
    let (high, low) = (integer(high), integer(low));
    // A byte that is at least 128 becomes negative, and adds 1 to the next.
    const HALVES: i128 = i128::from_ne_bytes([0x80; 16]);
    let mut rest = ((i128::from(high) << LOW) + i128::from(low)).wrapping_add(HALVES) ^ HALVES;
    let (mut digits, mut i) = ([0; WORDS], 0);
    while i < WORDS {
        digits[i] = rest as i32;
        rest >>= 32;
        i += 1;
    }
    digits
}

/// `high + low`, rounded to odd: the number next to it whose lowest bit is 1, unless the sum is a number. Rounded again,
/// to two bits less or more, it gives what the exact sum does.
#[inline(always)]
fn to_odd(high: f64, low: f64) -> f64 {
    let [sum, rest] = high.two_sum(low);
    let bits = sum.to_bits();
    let is_odd = bits & 1 == 1;
    match rest == 0.0 || is_odd {
        true => sum,
        // Towards the rest.
        false if (rest > 0.0) == (sum > 0.0) => f64::from_bits(bits + 1),
        false => f64::from_bits(bits - 1),
    }
}

macro_rules! elements {
    ($($float:ident $bits:ident: precision $precision:literal, bias $bias:literal,
        at most $most:literal bits, $limbs:literal limbs,
        sums by |$high:ident, $low:ident, $exponent:ident| $sum:expr, rounded once from $least:expr;)*) => {$(
        impl ExactElement for $float {
            const PRECISION: u32 = $precision;
            const MOST_BITS: u32 = $most;
            const LIMBS: usize = $limbs;
            const INFINITY: Self = $float::INFINITY;
            const NAN: Self = <$float as cuda_std::float::Float>::CANONICAL_NAN;

            #[inline(always)]
            fn parts(self) -> Option<Parts> {
                const FRACTION: u32 = $precision - 1;
                const EXPONENTS: $bits = 2 * $bias + 1;
                let bits = self.to_bits();
                let exponent = (bits >> FRACTION) & EXPONENTS;
                if exponent == EXPONENTS {
                    return None;
                }
                let fraction = (bits & ((1 << FRACTION) - 1)) as i64;
                let (magnitude, exponent) = match exponent {
                    0 => (fraction, 1),
                    _ => (fraction | 1 << FRACTION, exponent as i32),
                };
                let is_negative = bits >> ($bits::BITS - 1) == 1;
                Some(Parts {
                    significand: if is_negative { -magnitude } else { magnitude },
                    exponent: exponent - ($bias + FRACTION as i32),
                })
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }

            #[inline(always)]
            fn with_sign(self, is_negative: bool) -> Self {
                match is_negative {
                    true => -self,
                    false => self,
                }
            }

            #[inline(always)]
            fn rounded(significand: u64, exponent: i32, is_inexact: bool) -> Self {
                const FRACTION: u32 = $precision - 1;
                let top = exponent + 63;
                if top > $bias {
                    return Self::INFINITY;
                }
                let below_normal = (1 - $bias - top).clamp(0, 64);
                let dropped = 64 - $precision + below_normal as u32;
                if dropped > 64 {
                    return 0.0;
                }
                // At most 63 bits are shifted at a time.
                let kept = (significand >> (dropped - 1)) >> 1;
                let half = (significand >> (dropped - 1)) & 1;
                let rest = significand & ((1 << (dropped - 1)) - 1);
                let is_above_half = rest != 0 || is_inexact;
                let up = half & (u64::from(is_above_half) | kept & 1);
                // The implicit bit adds 1 to the exponent, as does a carry.
                let stored = (top + $bias - 1).max(0) as u64;
                let bits = (stored << FRACTION) + kept + up;
                Self::from_bits(bits as $bits)
            }

            #[inline(always)]
            fn of_sum($high: f64, $low: f64, $exponent: i32) -> Self {
                $sum
            }

            #[inline(always)]
            fn is_rounded_once(self) -> bool {
                self.abs() >= $least
            }
        }
    )*};
}
elements! {
    f32 u32: precision 24, bias 127, at most 60 bits, 3 limbs,
        sums by |high, low, exponent| scaled(to_odd(high, low), exponent) as f32, rounded once from 0.0;
    f64 u64: precision 53, bias 1023, at most 84 bits, 4 limbs,
        sums by |high, low, exponent| scaled(high + low, exponent), rounded once from f64::MIN_POSITIVE;
}

//! f32 and f64 as integers times powers of two.

use super::moduli::{DIGIT_BITS, DIGITS};
use crate::epilogue::EpilogueElement;
use crate::finish::FromSum;

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

    /// Digits of an operand's integers.
    const DIGITS: usize;

    /// 32-bit words of the integer products, which have up to 2 [`MOST_BITS`](Self::MOST_BITS) bits.
    const WORDS: usize;

    /// Words below those in which bounds are counted.
    const BOUND_WORD: usize;

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

    /// The bits that [`rounded`](Self::rounded) drops from a significand with this exponent, 64 or more if all.
    fn dropped(exponent: i32) -> u32;

    /// `significand * 2^shift`, rounded to the nearest integer, in digits of 22 bits. The integer has at most
    /// [`MOST_BITS`](Self::MOST_BITS). There are [`DIGITS`](Self::DIGITS).
    fn digits(significand: i64, shift: i32) -> [i32; DIGITS];
}

/// The shift of `significand` to the right, at least 1, rounded to the nearest integer.
#[inline(always)]
fn rounded_shift(significand: i64, right: i32) -> i64 {
    match right > 62 {
        true => 0,
        false => (significand + (1 << (right - 1))) >> right,
    }
}

macro_rules! elements {
    ($($float:ident $bits:ident in $integer:ident: precision $precision:literal, bias $bias:literal,
        at most $most:literal bits, $digits:literal digits, $words:literal words, bounds from word $bound:literal;)*) => {$(
        impl ExactElement for $float {
            const PRECISION: u32 = $precision;
            const MOST_BITS: u32 = $most;
            const DIGITS: usize = $digits;
            const WORDS: usize = $words;
            const BOUND_WORD: usize = $bound;
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
                let dropped = Self::dropped(exponent);
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
            fn dropped(exponent: i32) -> u32 {
                let below_normal = (1 - $bias - (exponent + 63)).clamp(0, 64);
                64 - $precision + below_normal as u32
            }

            #[inline(always)]
            fn digits(significand: i64, shift: i32) -> [i32; DIGITS] {
                let mut rest = match shift >= 0 {
                    true => $integer::from(significand) << shift,
                    false => $integer::from(rounded_shift(significand, -shift)),
                };
                let mut digits = [0; DIGITS];
                let mut i = 0;
                while i < $digits {
                    let unused = i32::BITS - DIGIT_BITS;
                    digits[i] = (rest as i32) << unused >> unused;
                    rest = (rest - $integer::from(digits[i])) >> DIGIT_BITS;
                    i += 1;
                }
                digits
            }
        }
    )*};
}
elements! {
    f32 u32 in i64: precision 24, bias 127, at most 60 bits, 3 digits, 4 words, bounds from word 0;
    f64 u64 in i128: precision 53, bias 1023, at most 84 bits, 4 digits, 6 words, bounds from word 1;
}

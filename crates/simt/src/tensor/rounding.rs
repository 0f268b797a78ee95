//! From an exact sum to the bits of a result.

use super::format::Format;

/// Rounding of a sum to its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Digits that do not fit are dropped.
    TowardZero,
    /// To nearest, ties to even.
    ToNearest,
}

/// A sum: `significand * 2^exponent`.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    /// Signed.
    pub significand: i64,
    /// The weight of the significand's lowest bit.
    pub exponent: i32,
}

impl Sum {
    /// The bits of this sum in `format`, with at most `kept_bits` bits of the fraction.
    ///
    /// A sum beyond the format's largest number becomes an infinity. A zero is positive, even if a negative sum
    /// rounds to it.
    #[inline]
    pub fn round(self, format: Format, kept_bits: u32, rounding: Rounding) -> u32 {
        let magnitude = self.significand.unsigned_abs();
        if magnitude == 0 {
            return 0;
        }
        let highest = self.exponent + 63 - magnitude.leading_zeros() as i32;
        let exponent = highest.max(format.lowest_exponent());
        let dropped = exponent - kept_bits as i32 - self.exponent;
        let kept = match rounding {
            _ if dropped <= 0 => magnitude << dropped.unsigned_abs().min(63),
            Rounding::TowardZero => magnitude >> dropped.min(63),
            Rounding::ToNearest => shift_to_nearest(magnitude, dropped.min(63)),
        };
        // The leading one of a normal number is added to the exponent field. This accounts for the
        // field of the lowest exponent, which is 1, and carries a significand that was rounded up.
        let fraction = kept << (format.fraction_bits - kept_bits);
        let field = (exponent - format.lowest_exponent()) as u64;
        let bits = (field << format.fraction_bits) + fraction;
        let bits = bits.min(u64::from(format.infinity())) as u32;
        let is_negative = self.significand < 0 && bits != 0;
        bits | u32::from(is_negative) << (format.exponent_bits + format.fraction_bits)
    }
}

/// `magnitude / 2^dropped`, to the nearest; `dropped` is 1 to 63.
fn shift_to_nearest(magnitude: u64, dropped: i32) -> u64 {
    let kept = magnitude >> dropped;
    let rest = magnitude & ((1 << dropped) - 1);
    let half = 1 << (dropped - 1);
    kept + u64::from(rest > half || (rest == half && kept & 1 == 1))
}

//! Floating-point operands, unpacked to significand and exponent.

/// A floating-point format of at most 32 bits: a sign, an exponent, a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the exponent's field.
    pub exponent_bits: u32,
    /// Bits of the fraction that the tensor core reads.
    pub fraction_bits: u32,
    /// Ignored bits below the fraction. A `tf32` operand is an `f32` whose lower 13 bits are ignored.
    pub ignored_bits: u32,
    /// Whether the largest exponent is reserved for infinities and NaN. In `e4m3` it is a normal exponent, and only the
    /// pattern of all ones is NaN.
    pub infinities: bool,
    /// Whether operands are first converted to a wider format, in which subnormal numbers become normal.
    pub widened: bool,
}

impl Format {
    /// IEEE 754 binary32.
    pub const F32: Self = Self::ieee(8, 23);
    /// IEEE 754 binary16.
    pub const F16: Self = Self::ieee(5, 10);
    /// The upper half of an `f32`.
    pub const BF16: Self = Self::ieee(8, 7);
    /// An `f32` with the upper 10 bits of its fraction.
    pub const TF32: Self = Self {
        ignored_bits: 13,
        ..Self::ieee(8, 10)
    };
    /// The 8-bit format with 4 bits of exponent, without infinities.
    pub const E4M3: Self = Self {
        infinities: false,
        ..Self::ieee(4, 3)
    };
    /// The 8-bit format with 5 bits of exponent.
    pub const E5M2: Self = Self::ieee(5, 2);

    /// This format, for operands that are first converted to a wider one.
    #[must_use]
    pub const fn widened(self) -> Self {
        Self {
            widened: true,
            ..self
        }
    }

    const fn ieee(exponent_bits: u32, fraction_bits: u32) -> Self {
        Self {
            exponent_bits,
            fraction_bits,
            ignored_bits: 0,
            infinities: true,
            widened: false,
        }
    }

    /// The field of the exponent 0.
    const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The exponent of the smallest normal number and of subnormal numbers.
    pub const fn lowest_exponent(self) -> i32 {
        1 - self.bias()
    }

    /// The bits of positive infinity.
    pub(super) const fn infinity(self) -> u32 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    /// Unpacks an operand.
    #[inline]
    pub(super) const fn decode(self, bits: u32) -> Operand {
        // The fast path: most accumulators are normal numbers in `f32`.
        let field = bits >> F32_FRACTION_BITS & F32_EXPONENTS;
        if matches!(self, Self::F32) && field != 0 && field != F32_EXPONENTS {
            let significand = bits & !(F32_EXPONENTS << F32_FRACTION_BITS) | ONE;
            return Operand {
                significand: f32::from_bits(significand),
                exponent: field as i16 - Self::F32.bias() as i16,
            };
        }
        self.decode_any(bits)
    }

    /// [`decode`](Self::decode) for any operand.
    const fn decode_any(self, bits: u32) -> Operand {
        let bits = bits >> self.ignored_bits;
        let fraction = bits & ((1 << self.fraction_bits) - 1);
        let all_ones = (1 << self.exponent_bits) - 1;
        let field = (bits >> self.fraction_bits) & all_ones;
        let sign_bit = self.fraction_bits + self.exponent_bits;
        let sign = (bits << (31 - sign_bit)) & SIGN_OF_F32;
        if field == all_ones {
            let is_nan = if self.infinities {
                fraction != 0
            } else {
                fraction == (1 << self.fraction_bits) - 1
            };
            if is_nan || self.infinities {
                return Operand::special(is_nan, sign);
            }
        }
        let fraction = fraction << (F32_FRACTION_BITS - self.fraction_bits);
        let (magnitude, exponent) = if field != 0 {
            (
                f32::from_bits(ONE | fraction),
                field as i16 - self.bias() as i16,
            )
        } else if fraction != 0 {
            let significand = fraction as f32 / (1 << F32_FRACTION_BITS) as f32;
            let zeros = if self.widened {
                fraction.leading_zeros() - (31 - F32_FRACTION_BITS)
            } else {
                0
            };
            let exponent = self.lowest_exponent() as i16 - zeros as i16;
            (significand * (1 << zeros) as f32, exponent)
        } else {
            (0.0, Operand::ZERO_EXPONENT)
        };
        Operand {
            significand: f32::from_bits(magnitude.to_bits() | sign),
            exponent,
        }
    }
}

const F32_FRACTION_BITS: u32 = f32::MANTISSA_DIGITS - 1;
/// The exponent's field of an `f32`, if all of its bits are ones.
const F32_EXPONENTS: u32 = 0xff;
/// The bits of 1 in `f32`.
const ONE: u32 = 1_f32.to_bits();
const SIGN_OF_F32: u32 = 1 << 31;

/// An unpacked operand: `significand * 2^exponent`. A subnormal number of a format that is not
/// widened is not normalised: its exponent is the format's lowest, and its significand is below 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    /// Signed. For an infinity, only the sign matters; for a NaN, it is a NaN.
    pub significand: f32,
    /// Zeros have an exponent so low, and infinities and NaN one so high, that the sum of two
    /// exponents still distinguishes them from numbers.
    pub exponent: i16,
}

impl Operand {
    pub const ZERO: Self = Self {
        significand: 0.0,
        exponent: Self::ZERO_EXPONENT,
    };
    const ZERO_EXPONENT: i16 = -(1 << 12);
    const SPECIAL_EXPONENT: i16 = 1 << 13;
    /// Above the exponent of every product of numbers, and below that of every product with an
    /// infinity or a NaN.
    pub const FIRST_SPECIAL: i16 = 1 << 11;

    const fn special(is_nan: bool, sign: u32) -> Self {
        Self {
            significand: if is_nan {
                f32::NAN
            } else {
                f32::from_bits(f32::INFINITY.to_bits() | sign)
            },
            exponent: Self::SPECIAL_EXPONENT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::SplitMix64;

    /// The fast path for normal `f32` numbers agrees with the general one.
    #[test]
    fn operands_in_f32_are_taken_apart_in_one_way() {
        let mut random = SplitMix64::new(9, 0);
        let special = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f32::MIN_POSITIVE,
            f32::MAX,
            f32::INFINITY,
        ];
        let special = special
            .map(f32::to_bits)
            .into_iter()
            .chain([1, 0x7fff_ffff]);
        let drawn = (0..10_000).map(|_| random.next() as u32);
        for bits in special.chain(drawn) {
            let parts = |it: Operand| (it.significand.to_bits(), it.exponent);
            let one = parts(Format::F32.decode(bits));
            assert_eq!(one, parts(Format::F32.decode_any(bits)), "{bits:#x}");
        }
    }
}

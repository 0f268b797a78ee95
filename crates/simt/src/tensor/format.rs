//! Floating-point operands, taken apart.

/// A floating-point format of at most 32 bits: a sign, an exponent, a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the exponent's field.
    pub exponent_bits: u32,
    /// Bits of the fraction that the tensor core reads.
    pub fraction_bits: u32,
    /// Bits below the fraction that are ignored. An operand in `tf32` is an `f32` whose lower 13
    /// bits are not looked at.
    pub ignored_bits: u32,
    /// Whether the largest exponent is kept for infinities and NaN. In `e4m3` it is an ordinary
    /// exponent, and the one pattern of all ones is NaN.
    pub infinities: bool,
}

impl Format {
    /// IEEE 754 binary32.
    pub const F32: Self = Self::ieee(8, 23);
    /// IEEE 754 binary16.
    pub const F16: Self = Self::ieee(5, 10);
    /// The upper half of an `f32`.
    pub const BF16: Self = Self::ieee(8, 7);
    /// An `f32` of which 10 bits of the fraction are read.
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

    const fn ieee(exponent_bits: u32, fraction_bits: u32) -> Self {
        Self {
            exponent_bits,
            fraction_bits,
            ignored_bits: 0,
            infinities: true,
        }
    }

    /// The exponent of 1.0's field.
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The exponent of the smallest normal number, which is also that of subnormal numbers.
    pub const fn lowest_exponent(self) -> i32 {
        1 - self.bias()
    }

    /// The bits of positive infinity.
    pub(super) const fn infinity(self) -> u32 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    /// Takes an operand apart.
    #[inline]
    pub const fn decode(self, bits: u32) -> Operand {
        let bits = bits >> self.ignored_bits;
        let fraction = (bits & ((1 << self.fraction_bits) - 1)) as i32;
        let all_ones = (1 << self.exponent_bits) - 1;
        let field = ((bits >> self.fraction_bits) & all_ones) as i32;
        let negative = (bits >> (self.fraction_bits + self.exponent_bits)) & 1 == 1;
        if field == all_ones as i32 {
            if self.infinities {
                return Operand::special(fraction != 0, negative);
            }
            if fraction == (1 << self.fraction_bits) - 1 {
                return Operand::special(true, negative);
            }
        }
        let (magnitude, exponent) = if field != 0 {
            (fraction | 1 << self.fraction_bits, field - self.bias())
        } else if fraction != 0 {
            (fraction, self.lowest_exponent())
        } else {
            (0, Operand::ZERO_EXPONENT)
        };
        Operand {
            significand: if negative { -magnitude } else { magnitude },
            exponent,
        }
    }
}

/// An operand taken apart: `significand * 2^(exponent - fraction_bits)`. A subnormal number is not
/// normalised: its exponent is the format's lowest, and its significand is below 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operand {
    /// With its sign. Of an infinity it is the sign alone, of a NaN 0.
    pub significand: i32,
    /// A zero's is so low, and that of an infinity or a NaN so high, that the sum of two exponents
    /// still tells them apart from numbers.
    pub exponent: i32,
}

impl Operand {
    const ZERO_EXPONENT: i32 = -(1 << 12);
    const SPECIAL_EXPONENT: i32 = 1 << 14;
    /// Above every exponent of a product of numbers, and below that of any product with an
    /// infinity or a NaN.
    pub(super) const FIRST_SPECIAL: i32 = 1 << 13;

    const fn special(nan: bool, negative: bool) -> Self {
        Self {
            significand: match (nan, negative) {
                (true, _) => 0,
                (false, false) => 1,
                (false, true) => -1,
            },
            exponent: Self::SPECIAL_EXPONENT,
        }
    }

    /// Whether this is an infinity or a NaN.
    pub(super) const fn is_special(self) -> bool {
        self.exponent == Self::SPECIAL_EXPONENT
    }
}

//! Float formats, and the digits of their sums.

use cuda_std::float::Float;

/// Bits of a digit after carries. Before, a digit is an i64.
pub const DIGIT_BITS: usize = 32;

/// Counts after the digits: of NaN, infinity and negative infinity.
pub const SPECIALS: usize = 3;

/// A float that is added exactly.
///
/// Digit i of a sum has the weight 2^(`LOWEST` + 32 i). The last has the sign, in two's complement.
pub trait Format: Float {
    /// The exponent of the least subnormal. Every number is a multiple of it.
    const LOWEST: i32;

    /// Bits of a significand.
    const PRECISION: u32;

    /// The bits of infinity.
    const INFINITY_BITS: u64;

    /// Digits for a sum of at least 2^64 elements.
    const DIGITS: usize;

    /// The exponent of the least power of two above all numbers.
    const LARGEST_TOP: i32;

    /// The greatest top of a window. Above it a bin exceeds the range of f64.
    const HIGHEST_TOP: i32;

    /// The same number.
    fn wide(self) -> f64;

    /// The number, which must be exact in the format.
    fn narrow(value: f64) -> Self;

    /// |x|.
    fn magnitude(self) -> Self;

    /// 2^exponent, a normal number, or infinity for the next power.
    fn power(exponent: i32) -> Self;

    /// The exponent of a power of two above |x|, at most 2 |x| if x is normal. `x` must be finite.
    fn top(self) -> i32;

    /// The bits, zero-extended.
    fn to_wide_bits(self) -> u64;

    /// The number with these bits.
    fn from_wide_bits(bits: u64) -> Self;
}

macro_rules! formats {
    ($($float:ident, $bits:ident: precision $precision:literal, largest exponent $largest:literal,
        digits $digits:literal, highest top $top:literal;)*) => {$(
        impl Format for $float {
            const LOWEST: i32 = 3 - $largest - $precision;
            const PRECISION: u32 = $precision;
            const INFINITY_BITS: u64 = $float::INFINITY.to_bits() as u64;
            const DIGITS: usize = $digits;
            const LARGEST_TOP: i32 = $largest;
            const HIGHEST_TOP: i32 = $top;

            #[inline(always)]
            #[allow(clippy::useless_conversion, reason = "of f32 it is none")]
            fn wide(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            fn narrow(value: f64) -> Self {
                value as Self
            }

            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }

            #[inline(always)]
            fn power(exponent: i32) -> Self {
                Self::from_bits(((exponent + $largest - 1) as $bits) << ($precision - 1))
            }

            #[inline(always)]
            fn top(self) -> i32 {
                let exponent = (self.abs().to_bits() >> ($precision - 1)) as i32;
                exponent + 2 - $largest
            }

            #[inline(always)]
            fn to_wide_bits(self) -> u64 {
                self.to_bits().into()
            }

            #[inline(always)]
            fn from_wide_bits(bits: u64) -> Self {
                Self::from_bits(bits as $bits)
            }
        }

        const _: () = assert!(
            $digits * DIGIT_BITS as i32 > $largest - <$float as Format>::LOWEST + 64,
            "the digits hold a sum of 2^64 elements, and a sign"
        );
    )*};
}
formats! {
    f32, u32: precision 24, largest exponent 128, digits 12, highest top 128;
    f64, u64: precision 53, largest exponent 1024, digits 68, highest top 1003;
}

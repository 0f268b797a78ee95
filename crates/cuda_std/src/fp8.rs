//! 8-bit floating-point numbers, operands of tensor cores.
//!
//! | type | exponent | fraction | largest number | smallest normal, subnormal | infinities |
//! |---|---|---|---|---|---|
//! | [`F8E4M3`] | 4 bits, bias 7 | 3 bits | 448 | 2^-6, 2^-9 | none |
//! | [`F8E5M2`] | 5 bits, bias 15 | 2 bits | 57344 | 2^-14, 2^-16 | yes |
//!
//! Both are storage formats. Arithmetic is done in `f32`, in which every value of either is exact. (Micikevicius et
//! al., "FP8 Formats for Deep Learning", arXiv 2209.05433; PTX ISA, 5.2.3, "Alternate Floating-Point Data Formats".)
//!
//! ```
//! use cuda_std::fp8::{F8E4M3, F8E5M2};
//!
//! assert_eq!(F8E4M3::from_f32(3.3).to_f32(), 3.25);
//! assert_eq!(F8E4M3::from_f32(1.0e6), F8E4M3::MAX);
//! assert_eq!(F8E5M2::from_f32(1.0e6), F8E5M2::INFINITY);
//! ```

use crate::machine;
use bytemuck::{Pod, Zeroable};
use core::cmp::Ordering;
use core::fmt;

/// Bits of the fraction of an `f32`.
const F32_FRACTION_BITS: u32 = f32::MANTISSA_DIGITS - 1;
/// The bias of the exponent of an `f32`.
const F32_BIAS: u32 = f32::MAX_EXP as u32 - 1;
/// The sign of a code.
const SIGN: u8 = 0x80;
/// The code of every NaN that a conversion returns.
const NAN: u8 = 0x7f;

/// The parameters of a format.
struct Format {
    fraction_bits: u32,
    bias: u32,
    /// The code of the largest finite number.
    largest: u8,
    /// The code for a number beyond it.
    beyond: u8,
}

const E4M3: Format = Format {
    fraction_bits: 3,
    bias: 7,
    largest: 0x7e,
    beyond: 0x7e,
};

const E5M2: Format = Format {
    fraction_bits: 2,
    bias: 15,
    largest: 0x7b,
    beyond: INFINITY_OF_E5M2,
};

const INFINITY_OF_E5M2: u8 = 0x7c;

impl Format {
    /// The code of the nearest number, ties to even.
    #[inline(always)]
    const fn narrow(&self, value: f32) -> u8 {
        let sign = (value.to_bits() >> 24) as u8 & SIGN;
        let magnitude = value.abs().to_bits();
        if magnitude > f32::INFINITY.to_bits() {
            return NAN;
        }
        let code = if magnitude < (F32_BIAS + 1 - self.bias) << F32_FRACTION_BITS {
            self.narrow_subnormal(magnitude)
        } else {
            self.narrow_normal(magnitude)
        };
        if code > self.largest as u32 {
            sign | self.beyond
        } else {
            sign | code as u8
        }
    }

    /// Adds half a unit in the last place, or just less if the last place is even, and truncates.
    #[inline(always)]
    const fn narrow_normal(&self, magnitude: u32) -> u32 {
        let dropped = F32_FRACTION_BITS - self.fraction_bits;
        let is_odd = magnitude >> dropped & 1;
        let rounded = magnitude + (1 << (dropped - 1)) - 1 + is_odd;
        (rounded >> dropped) - ((F32_BIAS - self.bias) << self.fraction_bits)
    }

    /// Rounds by adding a power of two whose unit in the last place is the smallest subnormal
    /// number.
    #[inline(always)]
    const fn narrow_subnormal(&self, magnitude: u32) -> u32 {
        let exponent = F32_BIAS + 1 - self.bias - self.fraction_bits + F32_FRACTION_BITS;
        let power = f32::from_bits(exponent << F32_FRACTION_BITS);
        (f32::from_bits(magnitude) + power).to_bits() - power.to_bits()
    }

    /// The number of a finite code.
    #[inline(always)]
    const fn widen(&self, code: u8) -> f32 {
        let places = F32_FRACTION_BITS - self.fraction_bits;
        let sign = ((code & SIGN) as u32) << 24;
        // The exponent still has the other bias; the product with a power of two is exact.
        let bits = sign | ((code & !SIGN) as u32) << places;
        let power = f32::from_bits((2 * F32_BIAS - self.bias) << F32_FRACTION_BITS);
        f32::from_bits(bits) * power
    }
}

macro_rules! float {
    ($(#[$meta:meta])* $name:ident, $format:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, Pod, Zeroable)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The largest finite number.
            pub const MAX: Self = Self($format.largest);
            /// A NaN.
            pub const NAN: Self = Self(NAN);
            /// One.
            pub const ONE: Self = Self(($format.bias as u8) << $format.fraction_bits);
            /// Positive zero.
            pub const ZERO: Self = Self(0);

            /// The number of this code.
            #[inline(always)]
            #[must_use]
            pub const fn from_bits(code: u8) -> Self {
                Self(code)
            }

            /// The code: the sign, the exponent and the fraction.
            #[inline(always)]
            #[must_use]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// Whether it is a NaN.
            #[inline(always)]
            #[must_use]
            pub const fn is_nan(self) -> bool {
                self.to_f32().is_nan()
            }
        }

        impl From<$name> for f32 {
            #[inline(always)]
            fn from(value: $name) -> Self {
                value.to_f32()
            }
        }

        /// As `f32` compares: zeros are equal, and a NaN differs from itself.
        impl PartialEq for $name {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), formatter)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), formatter)
            }
        }
    };
}

float! {
    /// A number with 4 bits of exponent and 3 of fraction (`e4m3`). The code of all ones is NaN.
    F8E4M3, E4M3
}

float! {
    /// A number with 5 bits of exponent and 2 of fraction (`e5m2`): the upper half of an `f16`.
    F8E5M2, E5M2
}

impl F8E4M3 {
    /// Rounds to the nearest number, ties to even, and saturates. Every NaN becomes 0x7f.
    ///
    /// Values beyond [`Self::MAX`], including infinities, become `MAX` with the sign of `value`, as in CUDA's
    /// `__nv_fp8_e4m3` (`__NV_SATFINITE`).
    #[inline(always)]
    #[must_use]
    pub const fn from_f32(value: f32) -> Self {
        Self(E4M3.narrow(value))
    }

    /// [`from_f32`](Self::from_f32) of both values: one instruction in kernels for compute capability 9.0.
    #[inline(always)]
    #[must_use]
    pub fn from_f32_pair(values: [f32; 2]) -> [Self; 2] {
        machine::f32_pair_to_e4m3(values).map(Self)
    }

    /// The same number.
    #[inline(always)]
    #[must_use]
    pub const fn to_f32(self) -> f32 {
        if self.0 & !SIGN == NAN {
            f32::NAN
        } else {
            E4M3.widen(self.0)
        }
    }
}

impl F8E5M2 {
    /// Positive infinity.
    pub const INFINITY: Self = Self(INFINITY_OF_E5M2);

    /// Rounds to the nearest number, ties to even. Every NaN becomes 0x7f.
    ///
    /// Values that round beyond [`Self::MAX`] become infinities, as in IEEE 754. CUDA's `__nv_fp8_e5m2` saturates
    /// instead: clamp `value` first for the same numbers.
    #[inline(always)]
    #[must_use]
    pub const fn from_f32(value: f32) -> Self {
        Self(E5M2.narrow(value))
    }

    /// The same number.
    #[inline(always)]
    #[must_use]
    pub const fn to_f32(self) -> f32 {
        let magnitude = self.0 & !SIGN;
        if magnitude < INFINITY_OF_E5M2 {
            E5M2.widen(self.0)
        } else if magnitude > INFINITY_OF_E5M2 {
            f32::NAN
        } else if self.0 & SIGN == 0 {
            f32::INFINITY
        } else {
            f32::NEG_INFINITY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of a code, by the definition of the format; `None` for a NaN.
    fn number(format: &Format, code: u8, has_infinities: bool) -> Option<f64> {
        let sign = if code & SIGN == 0 { 1.0 } else { -1.0 };
        let magnitude = code & !SIGN;
        let fraction = f64::from(magnitude % (1 << format.fraction_bits));
        let fraction = fraction / f64::from(1 << format.fraction_bits);
        let field = i32::from(magnitude >> format.fraction_bits);
        let bias = format.bias as i32;
        match magnitude {
            0x7c if has_infinities => Some(sign * f64::INFINITY),
            0x7d..=0x7f if has_infinities => None,
            0x7f => None,
            _ if field == 0 => Some(sign * fraction * 2_f64.powi(1 - bias)),
            _ => Some(sign * (1.0 + fraction) * 2_f64.powi(field - bias)),
        }
    }

    /// The code of the nearest finite number, by trying all.
    fn nearest(format: &Format, value: f32) -> u8 {
        let sign = if value.is_sign_negative() { SIGN } else { 0 };
        let number = |code: u8| number(format, code, false).expect("a finite number");
        // Distances are exact for numbers not far beyond the largest.
        let magnitude = f64::from(value.abs()).min(2.0 * number(format.largest));
        let distance = |code: &u8| ((number(*code) - magnitude).abs(), code & 1);
        let nearest = (0..=format.largest).min_by(|one, other| {
            let (one, other) = (distance(one), distance(other));
            one.partial_cmp(&other).expect("distances are numbers")
        });
        sign | nearest.expect("there are numbers")
    }

    /// Every number of the format, every midpoint of two neighbours, and their neighbours in `f32`;
    /// numbers of every magnitude; numbers around the largest.
    fn values(format: &Format) -> Vec<f32> {
        let numbers = (0..=format.largest).map(|code| number(format, code, false).unwrap() as f32);
        let numbers: Vec<f32> = numbers.collect();
        let middles = numbers.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
        let all_magnitudes = (0..255_u32).map(|exponent| f32::from_bits(exponent << 23 | 0x2_aaaa));
        let last = numbers[numbers.len() - 1];
        let step = last - numbers[numbers.len() - 2];
        let around_end = [last + step / 2.0, last + step, 2.0 * last, f32::MAX];
        let values = numbers.iter().copied().chain(middles);
        values
            .chain(all_magnitudes)
            .chain(around_end)
            .flat_map(|value| [value.next_down(), value, value.next_up()])
            .flat_map(|value| [value, -value])
            .filter(|value| value.is_finite())
            .collect()
    }

    #[test]
    fn codes_are_the_numbers_of_their_format() {
        for code in 0..=u8::MAX {
            let one = F8E4M3::from_bits(code).to_f32();
            let other = F8E5M2::from_bits(code).to_f32();
            let numbers = [number(&E4M3, code, false), number(&E5M2, code, true)];
            for (value, expected) in [one, other].into_iter().zip(numbers) {
                let expected = expected.map_or(f32::NAN, |number| number as f32);
                assert_eq!(value.to_bits(), expected.to_bits(), "{code:#x}");
            }
            let half = half::f16::from_bits(u16::from(code) << 8).to_f32();
            assert!(
                other == half || other.is_nan() && half.is_nan(),
                "{code:#x}"
            );
        }
    }

    #[test]
    fn codes_come_back() {
        for code in 0..=u8::MAX {
            let (one, other) = (F8E4M3::from_bits(code), F8E5M2::from_bits(code));
            let expected = |is_nan: bool| if is_nan { NAN } else { code };
            let back = F8E4M3::from_f32(one.to_f32()).to_bits();
            assert_eq!(back, expected(one.is_nan()));
            let back = F8E5M2::from_f32(other.to_f32()).to_bits();
            assert_eq!(back, expected(other.is_nan()));
        }
    }

    #[test]
    fn the_nearest_number_is_chosen() {
        for value in values(&E4M3) {
            let code = F8E4M3::from_f32(value).to_bits();
            assert_eq!(code, nearest(&E4M3, value), "{value:e}");
        }
        // The midpoint of the largest number and the next power of two.
        let overflow = 61_440.0;
        for value in values(&E5M2) {
            let expected = match value.abs() < overflow {
                true => nearest(&E5M2, value),
                false => nearest(&E5M2, value) & SIGN | INFINITY_OF_E5M2,
            };
            let code = F8E5M2::from_f32(value).to_bits();
            assert_eq!(code, expected, "{value:e}");
        }
    }

    #[test]
    fn infinities_and_nan() {
        for sign in [1.0, -1.0] {
            let infinity = sign * f32::INFINITY;
            assert_eq!(F8E4M3::from_f32(infinity).to_f32(), sign * 448.0);
            assert_eq!(F8E5M2::from_f32(infinity).to_f32(), infinity);
            assert_eq!(F8E4M3::from_f32(sign * f32::NAN).to_bits(), NAN);
            assert_eq!(F8E5M2::from_f32(sign * f32::NAN).to_bits(), NAN);
        }
        assert_eq!(F8E4M3::MAX.to_f32(), 448.0);
        assert_eq!(F8E5M2::MAX.to_f32(), 57_344.0);
        assert_eq!((F8E4M3::ONE.to_f32(), F8E5M2::ONE.to_f32()), (1.0, 1.0));
        assert_eq!(F8E4M3::from_f32(-0.0).to_bits(), SIGN);
        assert_eq!(F8E4M3::from_f32(-0.0), F8E4M3::ZERO);
        assert_ne!(F8E5M2::NAN, F8E5M2::NAN);
    }
}

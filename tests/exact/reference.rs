//! Dot products by integers of any length.

use num_bigint::{BigInt, Sign};
use std::fmt::Debug;
use tilewright::ChainElement;

/// A type of exact products, as its bits say.
pub trait Float: ChainElement + Debug + PartialEq {
    const PRECISION: u64;
    const BIAS: i64;
    fn to_u64(self) -> u64;
    fn from_u64(bits: u64) -> Self;
    fn of_f64(value: f64) -> Self;
    fn wide(self) -> f64;
}

macro_rules! floats {
    ($($float:ident in $bits:ident: $precision:literal, $bias:literal;)*) => {$(
        impl Float for $float {
            const PRECISION: u64 = $precision;
            const BIAS: i64 = $bias;

            fn to_u64(self) -> u64 {
                self.to_bits().into()
            }

            fn from_u64(bits: u64) -> Self {
                Self::from_bits(bits as $bits)
            }

            fn of_f64(value: f64) -> Self {
                value as Self
            }

            fn wide(self) -> f64 {
                self.into()
            }
        }
    )*};
}
floats! {
    f32 in u32: 24, 127;
    f64 in u64: 53, 1023;
}

/// The exponent of the least subnormal.
fn lowest<T: Float>() -> i64 {
    2 - T::BIAS - T::PRECISION as i64
}

/// A finite number, in units of the least subnormal.
fn in_units<T: Float>(x: T) -> BigInt {
    let bits = x.to_u64();
    let fraction_bits = T::PRECISION - 1;
    let exponent = (bits >> fraction_bits) & (2 * T::BIAS as u64 + 1);
    let fraction = bits & ((1 << fraction_bits) - 1);
    let magnitude = match exponent {
        0 => BigInt::from(fraction),
        _ => BigInt::from(fraction | 1 << fraction_bits) << (exponent - 1),
    };
    match x.wide().is_sign_negative() {
        true => -magnitude,
        false => magnitude,
    }
}

/// `sum`, in units of the square of the least subnormal, rounded to the nearest, ties to even.
fn rounded<T: Float>(sum: &BigInt) -> T {
    let magnitude = sum.magnitude();
    if magnitude.bits() == 0 {
        return T::of_f64(0.0);
    }
    // Bits of a unit of the result, which is a multiple of the least subnormal.
    let least = (-lowest::<T>()) as u64;
    let dropped = magnitude.bits().saturating_sub(T::PRECISION).max(least);
    let mut kept = magnitude >> dropped;
    let rest = magnitude - (&kept << dropped);
    let half = num_bigint::BigUint::from(1_u8) << (dropped - 1);
    if rest > half || rest == half && kept.bit(0) {
        kept += 1_u8;
    }
    let (mut kept, mut dropped) = (u64::try_from(kept).expect("a significand"), dropped);
    if kept >> T::PRECISION != 0 {
        (kept, dropped) = (kept >> 1, dropped + 1);
    }
    let fraction_bits = T::PRECISION - 1;
    let exponent = match kept >> fraction_bits {
        0 => 0,
        _ => dropped - least + 1,
    };
    let most = 2 * T::BIAS as u64;
    let bits = match exponent > most {
        true => (most + 1) << fraction_bits,
        false => exponent << fraction_bits | kept & ((1 << fraction_bits) - 1),
    };
    let sign = u64::from(sum.sign() == Sign::Minus) << (8 * size_of::<T>() - 1);
    T::from_u64(bits | sign)
}

/// The dot product of `terms`, as the library documents it.
pub fn dot<T: Float>(terms: impl IntoIterator<Item = (T, T)>) -> T {
    let (mut sum, mut special) = (BigInt::ZERO, 0.0_f64);
    for (a, b) in terms {
        let (x, y) = (a.wide(), b.wide());
        match x.is_finite() && y.is_finite() {
            true => sum += in_units(a) * in_units(b),
            false => {
                special += x.signum()
                    * y.signum()
                    * if x * y == 0.0 {
                        f64::NAN
                    } else {
                        x.abs() * y.abs()
                    }
            }
        }
    }
    match special {
        _ if special.is_nan() => T::from_u64((1 << (8 * size_of::<T>() - 1)) - 1),
        0.0 => rounded(&sum),
        _ => T::of_f64(special),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_term_is_rounded_as_the_processor_rounds() {
        let mut random = crate::common::random::Random::new(5);
        for _ in 0..20_000 {
            let (a, b) = (f64::from_bits(random.bits()), f64::from_bits(random.bits()));
            let product = a * b;
            if product == 0.0 || product.is_nan() {
                continue;
            }
            assert_eq!(dot([(a, b)]), product, "{a:e} {b:e}");
            let (x, y) = (a as f32, b as f32);
            if x * y != 0.0 && !(x * y).is_nan() {
                assert_eq!(dot([(x, y)]), x * y, "{x:e} {y:e}");
            }
        }
        assert_eq!(dot([(1.5, f64::from_bits(1))]), f64::from_bits(2));
        assert_eq!(dot([(0.5, f64::from_bits(1))]), 0.0);
        assert_eq!(
            dot([(f64::MAX, 1.0), (f64::MAX, 2f64.powi(-53))]),
            f64::INFINITY
        );
        assert_eq!(dot([(f64::MAX, 1.0), (f64::MAX, 2f64.powi(-54))]), f64::MAX);
    }
}

//! Arithmetic of floating-point numbers (PTX ISA, 9.7.3 and 9.7.4).
//!
//! f16 and bf16 are computed in f64 and rounded: of a sum, a product or their fused pair of such numbers, f64 has all
//! bits that a rounding needs.

use super::directed::directed;
use super::slot::{Flushed, Function, Number, odd};
use crate::operations::{Arithmetic, ArithmeticName};
use crate::words::{Rounding, Type};
use half::{bf16, f16};
use rustc_apfloat::ieee::Single;
use rustc_apfloat::{Float, Round};

/// The function of an instruction on floating-point numbers; none if it is none, or not known here.
pub(crate) fn float(it: &Arithmetic) -> Option<Function> {
    let is_plain = it.accuracy.is_none()
        && it.saturate.is_none()
        && it.relu.is_none()
        && it.absolute.is_none()
        && it.xorsign.is_none()
        && it.half.is_none();
    if !is_plain {
        return None;
    }
    if !matches!(it.rounding, None | Some(Rounding::NearestEven)) {
        // Only the rounding to nearest flushes here.
        return directed(it).filter(|_| it.ftz.is_none());
    }
    match it.of {
        Type::F32 if it.ftz.is_some() => flushed(it),
        _ if it.ftz.is_some() => None,
        Type::F32 => f32(it),
        Type::F64 => f64(it),
        Type::F16 => f16(it),
        Type::Bf16 => bf16(it),
        _ => None,
    }
}

/// `.ftz`: subnormal operands and results are zeros of their sign.
fn flushed(it: &Arithmetic) -> Option<Function> {
    match it.name {
        ArithmeticName::Negate => Some(Function::Unary(|a| Flushed::of(a).slot() ^ 1 << 31)),
        ArithmeticName::Absolute => Some(Function::Unary(|a| Flushed::of(a).slot() & !(1 << 31))),
        ArithmeticName::Min if it.nan.is_none() => Some(Function::Binary(|a, b| {
            let (a, b) = (Flushed::of(a), Flushed::of(b));
            lesser(a.0, b.0, a.slot(), b.slot())
        })),
        ArithmeticName::Max if it.nan.is_none() => Some(Function::Binary(|a, b| {
            let (a, b) = (Flushed::of(a), Flushed::of(b));
            greater(a.0, b.0, a.slot(), b.slot())
        })),
        ArithmeticName::Min | ArithmeticName::Max | ArithmeticName::CopySign => None,
        name => Flushed::arithmetic(name),
    }
}

/// Operations that create no NaN, rounded or not: `abs`, `neg` and `copysign` move bits.
macro_rules! floats {
    ($($number:ident, $sign:expr;)*) => {$(
        fn $number(it: &Arithmetic) -> Option<Function> {
            type N = $number;
            const SIGN: u64 = $sign;
            if let Some(function) = $number::arithmetic(it.name) {
                return Some(function);
            }
            Some(match (it.name, it.nan.is_some()) {
                (ArithmeticName::Min, false) => Function::Binary(|a, b| lesser(N::of(a), N::of(b), a, b)),
                (ArithmeticName::Max, false) => Function::Binary(|a, b| greater(N::of(a), N::of(b), a, b)),
                (ArithmeticName::Min, true) => Function::Binary(|a, b| match N::of(a).is_nan() || N::of(b).is_nan() {
                    true => N::NAN.slot(),
                    false => lesser(N::of(a), N::of(b), a, b),
                }),
                (ArithmeticName::Max, true) => Function::Binary(|a, b| match N::of(a).is_nan() || N::of(b).is_nan() {
                    true => N::NAN.slot(),
                    false => greater(N::of(a), N::of(b), a, b),
                }),
                (ArithmeticName::Negate, _) => Function::Unary(|a| a ^ SIGN),
                (ArithmeticName::Absolute, _) => Function::Unary(|a| a & !SIGN),
                (ArithmeticName::CopySign, _) => Function::Binary(|a, b| (b & !SIGN) | (a & SIGN)),
                _ => return None,
            })
        }
    )*};
}

floats! {
    f32, 1 << 31;
    f64, 1 << 63;
    f16, 1 << 15;
    bf16, 1 << 15;
}

/// The smaller number's slot: that of the other one if one is NaN, and -0 before +0.
fn lesser<N: PartialOrd + Number>(a: N, b: N, a_slot: u64, b_slot: u64) -> u64 {
    chosen(a, b, a_slot, b_slot, a < b || (a == b && a_slot > b_slot))
}

/// The larger number's slot, as [`lesser`].
fn greater<N: PartialOrd + Number>(a: N, b: N, a_slot: u64, b_slot: u64) -> u64 {
    chosen(a, b, a_slot, b_slot, a > b || (a == b && a_slot < b_slot))
}

#[allow(clippy::eq_op, reason = "a NaN is no number that equals itself")]
fn chosen<N: PartialOrd + Number>(a: N, b: N, a_slot: u64, b_slot: u64, is_first: bool) -> u64 {
    match (a == a, b == b) {
        (true, true) if is_first => a_slot,
        (true, true) | (false, true) => b_slot,
        (true, false) => a_slot,
        (false, false) => N::of(a_slot).slot(),
    }
}

/// The rounded operations of a type.
trait Rounded {
    fn arithmetic(name: ArithmeticName) -> Option<Function>;
}

macro_rules! rounded {
    ($($number:ident;)*) => {$(
        impl Rounded for $number {
            fn arithmetic(name: ArithmeticName) -> Option<Function> {
                type N = $number;
                Some(match name {
                    ArithmeticName::Add => Function::Binary(|a, b| (N::of(a) + N::of(b)).slot()),
                    ArithmeticName::Subtract => Function::Binary(|a, b| (N::of(a) - N::of(b)).slot()),
                    ArithmeticName::Multiply => Function::Binary(|a, b| (N::of(a) * N::of(b)).slot()),
                    ArithmeticName::Fma | ArithmeticName::MultiplyAdd => {
                        Function::Ternary(|a, b, c| N::of(a).mul_add(N::of(b), N::of(c)).slot())
                    }
                    ArithmeticName::Divide => Function::Binary(|a, b| (N::of(a) / N::of(b)).slot()),
                    ArithmeticName::SquareRoot => Function::Unary(|a| N::of(a).sqrt().slot()),
                    ArithmeticName::Reciprocal => Function::Unary(|a| (1.0 / N::of(a)).slot()),
                    _ => return None,
                })
            }
        }
    )*};
}

rounded! {
    f32;
    f64;
}

/// A flushed result. An H200 flushes what is subnormal before its rounding, which `truncated` tells.
fn settled(result: f32, truncated: impl FnOnce() -> Single) -> u64 {
    match result.abs() == f32::MIN_POSITIVE && truncated().is_denormal() {
        true => 0.0_f32.copysign(result).slot(),
        false => Flushed(result).slot(),
    }
}

impl Rounded for Flushed {
    fn arithmetic(name: ArithmeticName) -> Option<Function> {
        fn value(slot: u64) -> f32 {
            Flushed::of(slot).0
        }
        fn emulated(value: f32) -> Single {
            Single::from_bits(value.to_bits().into())
        }
        fn quotient(a: f32, b: f32) -> u64 {
            settled(a / b, || {
                emulated(a).div_r(emulated(b), Round::TowardZero).value
            })
        }
        Some(match name {
            ArithmeticName::Add => Function::Binary(|a, b| Flushed(value(a) + value(b)).slot()),
            ArithmeticName::Subtract => {
                Function::Binary(|a, b| Flushed(value(a) - value(b)).slot())
            }
            ArithmeticName::Multiply => Function::Binary(|a, b| {
                let (a, b) = (value(a), value(b));
                settled(a * b, || {
                    emulated(a).mul_r(emulated(b), Round::TowardZero).value
                })
            }),
            ArithmeticName::Fma | ArithmeticName::MultiplyAdd => Function::Ternary(|a, b, c| {
                let (a, b, c) = (value(a), value(b), value(c));
                settled(a.mul_add(b, c), || {
                    let [a, b, c] = [a, b, c].map(emulated);
                    a.mul_add_r(b, c, Round::TowardZero).value
                })
            }),
            ArithmeticName::Divide => Function::Binary(|a, b| quotient(value(a), value(b))),
            ArithmeticName::SquareRoot => Function::Unary(|a| Flushed(value(a).sqrt()).slot()),
            ArithmeticName::Reciprocal => Function::Unary(|a| quotient(1.0, value(a))),
            _ => return None,
        })
    }
}

macro_rules! rounded_halves {
    ($($number:ident;)*) => {$(
        impl Rounded for $number {
            fn arithmetic(name: ArithmeticName) -> Option<Function> {
                fn wide(slot: u64) -> f64 {
                    $number::of(slot).to_f64()
                }
                Some(match name {
                    ArithmeticName::Add => Function::Binary(|a, b| $number::from_f32(odd(wide(a) + wide(b))).slot()),
                    ArithmeticName::Subtract => Function::Binary(|a, b| $number::from_f32(odd(wide(a) - wide(b))).slot()),
                    ArithmeticName::Multiply => Function::Binary(|a, b| $number::from_f32(odd(wide(a) * wide(b))).slot()),
                    _ => return None,
                })
            }
        }
    )*};
}

rounded_halves! {
    f16;
    bf16;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::Operation;

    fn function(text: &str) -> Function {
        let words: Vec<&str> = text.split('.').collect();
        let Operation::Arithmetic(it) = Operation::of_words(&words) else {
            panic!("{text}");
        };
        float(&it).unwrap_or_else(|| panic!("{text}"))
    }

    fn binary(text: &str, a: f32, b: f32) -> u32 {
        match function(text) {
            Function::Binary(function) => function(a.to_bits().into(), b.to_bits().into()) as u32,
            _ => panic!("{text}"),
        }
    }

    #[test]
    fn a_nan_is_canonical() {
        let nan = f32::from_bits(0xffc0_0001);
        assert_eq!(binary("add.rn.f32", nan, 1.0), 0x7fff_ffff);
        assert_eq!(binary("mul.rn.f32", f32::INFINITY, 0.0), 0x7fff_ffff);
        assert_eq!(binary("max.f32", nan, nan), 0x7fff_ffff);
    }

    #[test]
    fn the_larger_one_is_a_number_and_positive_zero() {
        assert_eq!(binary("max.f32", f32::NAN, 1.0), 1_f32.to_bits());
        assert_eq!(binary("max.f32", 1.0, f32::NAN), 1_f32.to_bits());
        assert_eq!(binary("max.NaN.f32", 1.0, f32::NAN), 0x7fff_ffff);
        assert_eq!(binary("max.f32", -0.0, 0.0), 0);
        assert_eq!(binary("max.f32", 0.0, -0.0), 0);
        assert_eq!(binary("min.f32", 0.0, -0.0), 0x8000_0000);
        assert_eq!(binary("min.f32", -2.0, -1.0), (-2_f32).to_bits());
    }

    #[test]
    fn the_sign_is_of_the_first_operand() {
        assert_eq!(binary("copysign.f32", -1.0, 2.0), (-2_f32).to_bits());
    }

    #[test]
    fn subnormal_numbers_are_flushed_on_request() {
        let (tiny, half) = (f32::from_bits(5), f32::MIN_POSITIVE / 2.0);
        assert_eq!(binary("add.rn.f32", tiny, tiny), 10);
        assert_eq!(binary("add.rn.ftz.f32", tiny, tiny), 0);
        assert_eq!(
            binary("mul.rn.ftz.f32", f32::MIN_POSITIVE, -0.5),
            0x8000_0000
        );
        assert_eq!(binary("mul.rn.f32", f32::MIN_POSITIVE, 0.5), half.to_bits());
        assert_eq!(binary("max.ftz.f32", tiny, -1.0), 0);
    }

    #[test]
    fn directed_roundings_differ() {
        let tiny = f32::EPSILON / 4.0;
        let next = 1.0 + f32::EPSILON;
        let below = 1.0 - f32::EPSILON / 2.0;
        assert_eq!(binary("add.rn.f32", 1.0, tiny), 1_f32.to_bits());
        assert_eq!(binary("add.rp.f32", 1.0, tiny), next.to_bits());
        assert_eq!(binary("add.rm.f32", 1.0, -tiny), below.to_bits());
        assert_eq!(binary("add.rz.f32", -1.0, tiny), (-below).to_bits());
    }
}

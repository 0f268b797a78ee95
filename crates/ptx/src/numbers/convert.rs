//! Conversions (PTX ISA, "cvt").

use super::slot::{Function, Number, mask, odd};
use crate::operations::{Convert, ConvertName};
use crate::words::{Rounding, Type};
use half::{bf16, f16};

/// The function of a conversion.
pub(crate) fn convert(it: &Convert) -> Option<Function> {
    let is_plain = it.ftz.is_none() && it.relu.is_none() && it.satfinite.is_none();
    if it.name != ConvertName::Convert || !is_plain || it.saturate.is_some() || it.rest.is_some() {
        return None;
    }
    let nearest = it.rounding == Some(Rounding::NearestEven);
    match (it.to, it.from, it.rounding) {
        (to, from, None) if to.is_integer() && from.is_integer() => between_integers(to, from),
        (Type::F32, Type::F16, None) => Some(Function::Unary(|a| f16::of(a).to_f32().slot())),
        (Type::F32, Type::Bf16, None) => Some(Function::Unary(|a| bf16::of(a).to_f32().slot())),
        (Type::F64, Type::F16, None) => Some(Function::Unary(|a| f16::of(a).to_f64().slot())),
        (Type::F64, Type::F32, None) => Some(Function::Unary(|a| f64::from(f32::of(a)).slot())),
        (Type::F32, Type::F64, _) if nearest => {
            Some(Function::Unary(|a| (f64::of(a) as f32).slot()))
        }
        (Type::F16, Type::F32, _) if nearest => {
            Some(Function::Unary(|a| f16::from_f32(f32::of(a)).slot()))
        }
        (Type::F16, Type::F64, _) if nearest => {
            Some(Function::Unary(|a| f16::from_f32(odd(f64::of(a))).slot()))
        }
        (Type::Bf16, Type::F32, _) if nearest => {
            Some(Function::Unary(|a| bf16::from_f32(f32::of(a)).slot()))
        }
        (Type::F16x2, Type::F32, _) if nearest => Some(Function::Binary(|high, low| {
            f16::from_f32(f32::of(high)).slot() << 16 | f16::from_f32(f32::of(low)).slot()
        })),
        (Type::Bf16x2, Type::F32, _) if nearest => Some(Function::Binary(|high, low| {
            bf16::from_f32(f32::of(high)).slot() << 16 | bf16::from_f32(f32::of(low)).slot()
        })),
        (to, from, _) if nearest && from.is_integer() => from_integer(to, from),
        (to, from, Some(rounding)) if from.is_float() => rounded_float(to, from, rounding),
        _ => None,
    }
}

/// Sign or zero extension, and then the low bits.
fn between_integers(to: Type, from: Type) -> Option<Function> {
    /// Widens by the source's sign, and narrows to a mask.
    macro_rules! to_width {
        ($from:ty) => {
            match to.bits()? {
                8 => Function::Unary(|a| <$from>::of(a) as i64 as u64 & mask(8)),
                16 => Function::Unary(|a| <$from>::of(a) as i64 as u64 & mask(16)),
                32 => Function::Unary(|a| <$from>::of(a) as i64 as u64 & mask(32)),
                _ => Function::Unary(|a| <$from>::of(a) as i64 as u64),
            }
        };
    }
    Some(match from {
        Type::U8 => to_width!(u8),
        Type::U16 => to_width!(u16),
        Type::U32 => to_width!(u32),
        Type::U64 => to_width!(u64),
        Type::S8 => to_width!(i8),
        Type::S16 => to_width!(i16),
        Type::S32 => to_width!(i32),
        Type::S64 => to_width!(i64),
        _ => return None,
    })
}

/// To the nearest floating-point number.
fn from_integer(to: Type, from: Type) -> Option<Function> {
    macro_rules! nearest {
        ($from:ty) => {
            match to {
                Type::F32 => Function::Unary(|a| (<$from>::of(a) as f32).slot()),
                Type::F64 => Function::Unary(|a| (<$from>::of(a) as f64).slot()),
                _ => return None,
            }
        };
    }
    Some(match from {
        Type::U8 => nearest!(u8),
        Type::U16 => nearest!(u16),
        Type::U32 => nearest!(u32),
        Type::U64 => nearest!(u64),
        Type::S8 => nearest!(i8),
        Type::S16 => nearest!(i16),
        Type::S32 => nearest!(i32),
        Type::S64 => nearest!(i64),
        _ => return None,
    })
}

/// To an integer, as an integer or as a floating-point number of the same type.
fn rounded_float(to: Type, from: Type, rounding: Rounding) -> Option<Function> {
    match from {
        Type::F32 => rounded::<f32>(to, from, rounding),
        Type::F64 => rounded::<f64>(to, from, rounding),
        _ => None,
    }
}

/// A number that is rounded to integers. f64 has every f32.
trait Float: Number {
    fn wide(self) -> f64;
    fn narrow(wide: f64) -> Self;
}

impl Float for f32 {
    fn wide(self) -> f64 {
        self.into()
    }

    fn narrow(wide: f64) -> Self {
        wide as f32
    }
}

impl Float for f64 {
    fn wide(self) -> f64 {
        self
    }

    fn narrow(wide: f64) -> Self {
        wide
    }
}

fn rounded<N: Float>(to: Type, from: Type, rounding: Rounding) -> Option<Function> {
    /// For each type of the result, the rounded number. `as` clamps, and makes zero of a NaN, as devices do unless one
    /// of both types has 64 bits.
    macro_rules! to_each {
        ($round:expr) => {
            match to {
                Type::U16 => Function::Unary(|a| ($round(N::of(a).wide()) as u16).slot()),
                Type::S16 => Function::Unary(|a| ($round(N::of(a).wide()) as i16).slot()),
                Type::U32 => Function::Unary(|a| ($round(N::of(a).wide()) as u32).slot()),
                Type::S32 => Function::Unary(|a| ($round(N::of(a).wide()) as i32).slot()),
                _ if to == from => Function::Unary(|a| N::narrow($round(N::of(a).wide())).slot()),
                _ => return None,
            }
        };
    }
    if from == Type::F64 && to != from {
        return None;
    }
    Some(match rounding {
        Rounding::IntegerNearest => to_each!(f64::round_ties_even),
        Rounding::IntegerZero => to_each!(f64::trunc),
        Rounding::IntegerDown => to_each!(f64::floor),
        Rounding::IntegerUp => to_each!(f64::ceil),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::Operation;

    fn unary(text: &str, a: u64) -> u64 {
        let words: Vec<&str> = text.split('.').collect();
        let Operation::Convert(it) = Operation::of_words(&words) else {
            panic!("{text}");
        };
        match convert(&it) {
            Some(Function::Unary(function)) => function(a),
            _ => panic!("{text}"),
        }
    }

    #[test]
    fn integers_are_widened_by_their_own_sign() {
        assert_eq!(unary("cvt.u64.s8", 0xff), u64::MAX);
        assert_eq!(unary("cvt.s64.u8", 0xff), 0xff);
        assert_eq!(unary("cvt.u16.u64", 0x1_2345), 0x2345);
        assert_eq!(unary("cvt.s32.s16", 0x8000), 0xffff_8000);
    }

    #[test]
    fn floats_are_rounded_and_clamped() {
        let bits = |value: f32| u64::from(value.to_bits());
        assert_eq!(unary("cvt.rni.s32.f32", bits(2.5)), 2);
        assert_eq!(
            unary("cvt.rzi.s32.f32", bits(-2.5)),
            u64::from(-2_i32 as u32)
        );
        assert_eq!(unary("cvt.rpi.f32.f32", bits(2.1)), bits(3.0));
        assert_eq!(unary("cvt.rzi.u32.f32", bits(-1.0)), 0);
        assert_eq!(unary("cvt.rzi.s32.f32", bits(f32::NAN)), 0);
        assert_eq!(unary("cvt.rn.f32.u64", u64::MAX), bits(1.844_674_4e19));
    }

    #[test]
    fn halves_round_to_even() {
        let bits = |value: f32| u64::from(value.to_bits());
        assert_eq!(unary("cvt.rn.f16.f32", bits(1.0 + 1.0 / 2048.0)), 0x3c00);
        assert_eq!(unary("cvt.rn.f16.f32", bits(1.0 + 3.0 / 2048.0)), 0x3c02);
        assert_eq!(unary("cvt.f32.f16", 0x3c01), bits(1.0 + 1.0 / 1024.0));
        assert_eq!(unary("cvt.rn.bf16.f32", bits(f32::NAN)), 0x7fff);
    }
}

//! Arithmetic of integers (PTX ISA, 9.7.1).

use super::slot::{Function, Number};
use crate::operations::{Arithmetic, ArithmeticName};
use crate::words::{Half, Type};

/// The function of an instruction on integers; none if it is none, or not known here.
pub(crate) fn integer(it: &Arithmetic) -> Option<Function> {
    let is_plain = it.carry.is_none() && it.ftz.is_none() && it.rounding.is_none();
    if !is_plain || it.relu.is_some() {
        return None;
    }
    if it.saturate.is_some() {
        return saturating(it);
    }
    match it.of {
        Type::U16 | Type::B16 => u16(it),
        Type::S16 => i16(it),
        Type::U32 | Type::B32 => u32(it),
        Type::S32 => i32(it),
        Type::U64 | Type::B64 => u64(it),
        Type::S64 => i64(it),
        _ => None,
    }
}

/// Clamped sums and differences, which only `s32` has.
fn saturating(it: &Arithmetic) -> Option<Function> {
    if it.of != Type::S32 {
        return None;
    }
    Some(match (it.name, it.half) {
        (ArithmeticName::Add, None) => {
            Function::Binary(|a, b| i32::of(a).saturating_add(i32::of(b)).slot())
        }
        (ArithmeticName::Subtract, None) => {
            Function::Binary(|a, b| i32::of(a).saturating_sub(i32::of(b)).slot())
        }
        (ArithmeticName::MultiplyAdd, Some(Half::High)) => Function::Ternary(|a, b, c| {
            let high = (i64::from(i32::of(a)) * i64::from(i32::of(b))) >> 32;
            (high as i32).saturating_add(i32::of(c)).slot()
        }),
        _ => return None,
    })
}

macro_rules! integers {
    ($($number:ident, $unsigned:ident, $wide:ident, $wide_unsigned:ident;)*) => {$(
        fn $number(it: &Arithmetic) -> Option<Function> {
            type N = $number;
            const BITS: u32 = N::BITS;
            /// The whole product.
            fn product(a: u64, b: u64) -> $wide {
                $wide::from(N::of(a)) * $wide::from(N::of(b))
            }
            /// A value of twice the width in a slot.
            fn wide(value: $wide) -> u64 {
                value as $wide_unsigned as u64
            }
            Some(match (it.name, it.half) {
                (ArithmeticName::Add, None) => Function::Binary(|a, b| N::of(a).wrapping_add(N::of(b)).slot()),
                (ArithmeticName::Subtract, None) => Function::Binary(|a, b| N::of(a).wrapping_sub(N::of(b)).slot()),
                (ArithmeticName::Multiply, Some(Half::Low)) => {
                    Function::Binary(|a, b| N::of(a).wrapping_mul(N::of(b)).slot())
                }
                (ArithmeticName::Multiply, Some(Half::High)) => {
                    Function::Binary(|a, b| ((product(a, b) >> BITS) as N).slot())
                }
                (ArithmeticName::Multiply, Some(Half::Wide)) if BITS < 64 => Function::Binary(|a, b| wide(product(a, b))),
                (ArithmeticName::MultiplyAdd, Some(Half::Low)) => {
                    Function::Ternary(|a, b, c| N::of(a).wrapping_mul(N::of(b)).wrapping_add(N::of(c)).slot())
                }
                (ArithmeticName::MultiplyAdd, Some(Half::High)) => {
                    Function::Ternary(|a, b, c| ((product(a, b) >> BITS) as N).wrapping_add(N::of(c)).slot())
                }
                (ArithmeticName::MultiplyAdd, Some(Half::Wide)) if BITS < 64 => {
                    Function::Ternary(|a, b, c| wide(product(a, b).wrapping_add(c as $wide)))
                }
                // Division by zero is undefined; an H200 returns ones for both.
                (ArithmeticName::Divide, None) => Function::Binary(|a, b| match N::of(b) {
                    0 => ($unsigned::MAX as N).slot(),
                    b => N::of(a).wrapping_div(b).slot(),
                }),
                (ArithmeticName::Remainder, None) => Function::Binary(|a, b| match N::of(b) {
                    0 => ($unsigned::MAX as N).slot(),
                    b => N::of(a).wrapping_rem(b).slot(),
                }),
                (ArithmeticName::Min, None) => Function::Binary(|a, b| N::of(a).min(N::of(b)).slot()),
                (ArithmeticName::Max, None) => Function::Binary(|a, b| N::of(a).max(N::of(b)).slot()),
                (ArithmeticName::Negate, None) => Function::Unary(|a| N::of(a).wrapping_neg().slot()),
                (ArithmeticName::Absolute, None) => Function::Unary(|a| {
                    let a = N::of(a);
                    #[allow(unused_comparisons, clippy::absurd_extreme_comparisons, reason = "of signed types, too")]
                    if a < 0 { a.wrapping_neg().slot() } else { a.slot() }
                }),
                (ArithmeticName::Difference, None) => {
                    Function::Ternary(|a, b, c| N::of(a).abs_diff(N::of(b)).wrapping_add(c as $unsigned).slot())
                }
                _ => return None,
            })
        }
    )*};
}

integers! {
    u16, u16, u32, u32;
    i16, u16, i32, u32;
    u32, u32, u64, u64;
    i32, u32, i64, u64;
    u64, u64, u128, u128;
    i64, u64, i128, u128;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::Operation;

    fn binary(text: &str, a: u64, b: u64) -> u64 {
        let words: Vec<&str> = text.split('.').collect();
        let Operation::Arithmetic(it) = Operation::of_words(&words) else {
            panic!("{text}");
        };
        match integer(&it) {
            Some(Function::Binary(function)) => function(a, b),
            _ => panic!("{text}"),
        }
    }

    #[test]
    fn products_of_each_half() {
        let minus_two = u64::from(-2_i32 as u32);
        assert_eq!(binary("mul.lo.s32", minus_two, 3), u64::from(-6_i32 as u32));
        assert_eq!(binary("mul.hi.s32", minus_two, 3), 0xffff_ffff);
        assert_eq!(binary("mul.wide.s32", minus_two, 3), -6_i64 as u64);
        assert_eq!(binary("mul.wide.u32", minus_two, 3), 0xffff_fffe * 3);
        assert_eq!(binary("mul.hi.u64", u64::MAX, 2), 1);
        assert_eq!(binary("mul.wide.s16", 0xffff, 2), 0xffff_fffe);
    }

    #[test]
    fn quotients_round_towards_zero() {
        let minus_seven = -7_i64 as u64;
        assert_eq!(binary("div.s64", minus_seven, 2), -3_i64 as u64);
        assert_eq!(binary("rem.s64", minus_seven, 2), -1_i64 as u64);
        assert_eq!(binary("div.u32", 7, 0), 0xffff_ffff);
        assert_eq!(binary("div.s32", 0x8000_0000, 0xffff_ffff), 0x8000_0000);
    }

    #[test]
    fn only_clamped_sums_are_clamped() {
        assert_eq!(binary("add.s32", 0x7fff_ffff, 1), 0x8000_0000);
        assert_eq!(binary("add.sat.s32", 0x7fff_ffff, 1), 0x7fff_ffff);
    }
}

//! Comparisons with values as results, and properties of numbers.

use super::format::Format;
use crate::numbers::compare::comparison;
use crate::numbers::slot::{General, mask};
use crate::operations::{Compare, Select, TestNumber};
use crate::words::{CombinePredicate, TestProperty, Type};

/// `set`: ones or 1.0 for each comparison that holds, after a combination with a predicate.
pub(crate) fn set(it: &Compare) -> Option<General> {
    let from = it.from?;
    let (scalar, bits, count) = match Format::of(from) {
        Some((Format::F16, 2)) => (Type::F16, 16, 2),
        Some((Format::Bf16, 2)) => (Type::Bf16, 16, 2),
        _ => (from, from.bits()?, 1),
    };
    let compare = comparison(it.comparison, scalar, it.ftz.is_some())?;
    let (combine, width) = (it.combine, it.of.bits()?);
    let each = width / count;
    let one = match Format::of(it.of) {
        Some((format, _)) => format.one(),
        None => mask(each),
    };
    let operands = if combine.is_some() { 3 } else { 2 };
    Some(General::new(operands, move |x| {
        let holds = |lane: u32| {
            let of = |slot: u64| slot >> (lane * bits) & mask(bits);
            let result = compare(of(x[0]), of(x[1]));
            match combine {
                None => result,
                Some(CombinePredicate::And) => result & x[2],
                Some(CombinePredicate::Or) => result | x[2],
                Some(CombinePredicate::Xor) => result ^ x[2],
            }
        };
        (0..count).fold(0, |word, lane| match holds(lane) {
            0 => word,
            _ => word | one << (lane * each),
        })
    }))
}

/// `slct`: the first operand if the third one is not negative.
pub(crate) fn select_by_sign(it: &Select) -> Option<General> {
    let is_flushed = it.ftz.is_some();
    match it.by? {
        Type::S32 => Some(General::new(
            3,
            |x| if x[2] as i32 >= 0 { x[0] } else { x[1] },
        )),
        Type::F32 => Some(General::new(3, move |x| {
            let by = if is_flushed {
                Format::F32.flushed(x[2])
            } else {
                x[2]
            };
            let is_first = f32::from_bits(by as u32) >= 0.0;
            if is_first { x[0] } else { x[1] }
        })),
        _ => None,
    }
}

/// `testp`.
pub(crate) fn test_number(it: &TestNumber) -> Option<General> {
    let (Type::F32 | Type::F64) = it.of else {
        return None;
    };
    let (format, _) = Format::of(it.of)?;
    let property = it.property;
    Some(General::new(1, move |x| {
        let value = format.wide(x[0]);
        let is_subnormal = format.flushed(x[0]) != x[0];
        let holds = match property {
            TestProperty::Finite => value.is_finite(),
            TestProperty::Infinite => value.is_infinite(),
            TestProperty::Number => !value.is_nan(),
            TestProperty::NotANumber => value.is_nan(),
            // Zeros are normal, too.
            TestProperty::Normal => value.is_finite() && !is_subnormal,
            TestProperty::Subnormal => is_subnormal,
        };
        holds.into()
    }))
}

//! Comparisons, and choices by them.

use super::slot::{Flushed, Function, Number};
use crate::words::{Comparison, Type};
use half::{bf16, f16};

/// The predicate of a comparison of two slots.
pub(crate) fn comparison(
    by: Comparison,
    of: Type,
    is_flushed: bool,
) -> Option<fn(u64, u64) -> u64> {
    match of {
        Type::F32 if is_flushed => floats::<Flushed>(by),
        _ if is_flushed => None,
        Type::U16 | Type::B16 => integers::<u16>(by),
        Type::S16 => integers::<i16>(by),
        Type::U32 | Type::B32 => integers::<u32>(by),
        Type::S32 => integers::<i32>(by),
        Type::U64 | Type::B64 => integers::<u64>(by),
        Type::S64 => integers::<i64>(by),
        Type::F32 => floats::<f32>(by),
        Type::F64 => floats::<f64>(by),
        Type::F16 => floats::<f16>(by),
        Type::Bf16 => floats::<bf16>(by),
        _ => None,
    }
}

fn integers<N: Number + Ord>(by: Comparison) -> Option<fn(u64, u64) -> u64> {
    Some(match by {
        Comparison::Equal => |a, b| (N::of(a) == N::of(b)).into(),
        Comparison::NotEqual => |a, b| (N::of(a) != N::of(b)).into(),
        Comparison::Less | Comparison::Lower => |a, b| (N::of(a) < N::of(b)).into(),
        Comparison::LessEqual | Comparison::LowerSame => |a, b| (N::of(a) <= N::of(b)).into(),
        Comparison::Greater | Comparison::Higher => |a, b| (N::of(a) > N::of(b)).into(),
        Comparison::GreaterEqual | Comparison::HigherSame => |a, b| (N::of(a) >= N::of(b)).into(),
        _ => return None,
    })
}

/// Whether one of two numbers is NaN.
#[allow(clippy::eq_op, reason = "a NaN is no number that equals itself")]
fn is_unordered<N: PartialEq>(a: N, b: N) -> bool {
    a != a || b != b
}

#[allow(clippy::neg_cmp_op_on_partial_ord, reason = "true for a NaN")]
fn floats<N: Number + PartialOrd>(by: Comparison) -> Option<fn(u64, u64) -> u64> {
    Some(match by {
        Comparison::Equal => |a, b| (N::of(a) == N::of(b)).into(),
        Comparison::NotEqual => {
            |a, b| (N::of(a) != N::of(b) && !is_unordered(N::of(a), N::of(b))).into()
        }
        Comparison::Less => |a, b| (N::of(a) < N::of(b)).into(),
        Comparison::LessEqual => |a, b| (N::of(a) <= N::of(b)).into(),
        Comparison::Greater => |a, b| (N::of(a) > N::of(b)).into(),
        Comparison::GreaterEqual => |a, b| (N::of(a) >= N::of(b)).into(),
        Comparison::EqualUnordered => {
            |a, b| (N::of(a) == N::of(b) || is_unordered(N::of(a), N::of(b))).into()
        }
        Comparison::NotEqualUnordered => |a, b| (N::of(a) != N::of(b)).into(),
        Comparison::LessUnordered => |a, b| (!(N::of(a) >= N::of(b))).into(),
        Comparison::LessEqualUnordered => |a, b| (!(N::of(a) > N::of(b))).into(),
        Comparison::GreaterUnordered => |a, b| (!(N::of(a) <= N::of(b))).into(),
        Comparison::GreaterEqualUnordered => |a, b| (!(N::of(a) < N::of(b))).into(),
        Comparison::Number => |a, b| (!is_unordered(N::of(a), N::of(b))).into(),
        Comparison::NotANumber => |a, b| is_unordered(N::of(a), N::of(b)).into(),
        _ => return None,
    })
}

/// The first operand if the third one, a predicate, is true.
pub(crate) fn select() -> Function {
    Function::Ternary(|a, b, predicate| if predicate != 0 { a } else { b })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_count_by_type() {
        let less = |of| comparison(Comparison::Less, of, false).unwrap();
        assert_eq!(less(Type::S32)(0xffff_ffff, 0), 1);
        assert_eq!(less(Type::U32)(0xffff_ffff, 0), 0);
    }

    #[test]
    fn a_nan_makes_only_unordered_comparisons_true() {
        let nan = u64::from(f32::NAN.to_bits());
        for by in Comparison::ALL {
            let Some(compare) = comparison(*by, Type::F32, false) else {
                continue;
            };
            let is_unordered = matches!(
                by.text(),
                "equ" | "neu" | "ltu" | "leu" | "gtu" | "geu" | "nan"
            );
            assert_eq!(compare(nan, 0) == 1, is_unordered, "{}", by.text());
        }
    }
}

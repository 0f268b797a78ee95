//! Approximations: `.approx` and `.full`.
//!
//! NVIDIA documents their largest errors, not their bits. Here they are computed in f64 and rounded to nearest, which
//! is within those errors (PTX ISA, 9.7.3).

use super::format::Format;
use crate::numbers::slot::General;
use crate::operations::{Arithmetic, ArithmeticName as Name};
use rustc_apfloat::Round;

/// The function of an approximation.
pub(super) fn approximate(it: &Arithmetic, format: Format) -> Option<General> {
    if format == Format::F64 {
        return of_f64(it.name, it.ftz.is_some());
    }
    let function: fn(f64) -> f64 = match it.name {
        Name::Divide => return Some(quotient(it, format)),
        Name::Reciprocal => |x| 1.0 / x,
        Name::ReciprocalRoot => |x| 1.0 / x.sqrt(),
        Name::SquareRoot => f64::sqrt,
        Name::Sine => f64::sin,
        Name::Cosine => f64::cos,
        Name::Logarithm => f64::log2,
        Name::Exponential => f64::exp2,
        Name::HyperbolicTangent => f64::tanh,
        _ => return None,
    };
    Some(General::new(1, move |x| {
        format.narrow(function(format.wide(x[0])), Round::NearestTiesToEven)
    }))
}

/// `div.approx` returns zero for a divisor above 2^126.
fn quotient(it: &Arithmetic, format: Format) -> General {
    let large = 2_f64.powi(126);
    let is_limited = it.accuracy == Some(crate::words::Accuracy::Approximate);
    General::new(2, move |x| {
        let (a, b) = (format.wide(x[0]), format.wide(x[1]));
        let quotient = match is_limited && b.abs() > large && b.is_finite() {
            true if a.is_infinite() => f64::NAN,
            true => (0.0 * a).copysign(a * b.signum()),
            false => a / b,
        };
        format.narrow(quotient, Round::NearestTiesToEven)
    })
}

/// Of an f64; with `.ftz`, of the upper half of the operand, and with no more than that of the result.
fn of_f64(name: Name, is_gross: bool) -> Option<General> {
    let kept: u64 = match is_gross {
        true => 0xffff_ffff_0000_0000,
        false => u64::MAX,
    };
    let function: fn(f64) -> f64 = match name {
        Name::Reciprocal => |x| 1.0 / x,
        Name::ReciprocalRoot => |x| 1.0 / x.sqrt(),
        _ => return None,
    };
    Some(General::new(1, move |x| {
        let result = function(f64::from_bits(x[0] & kept));
        match result.is_nan() {
            true => Format::F64.nan(),
            false => result.to_bits() & kept,
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::Operation;

    fn of(text: &str, operands: &[f32]) -> f32 {
        let words: Vec<&str> = text.split('.').collect();
        let Operation::Arithmetic(it) = Operation::of_words(&words) else {
            panic!("{text}");
        };
        let function = approximate(&it, Format::F32).unwrap();
        let slots: Vec<u64> = operands.iter().map(|it| it.to_bits().into()).collect();
        f32::from_bits(function.call(&slots) as u32)
    }

    #[test]
    fn special_values_are_those_of_the_manual() {
        assert_eq!(of("rcp.approx.f32", &[-0.0]), f32::NEG_INFINITY);
        assert_eq!(of("rsqrt.approx.f32", &[f32::INFINITY]), 0.0);
        assert!(of("sin.approx.f32", &[f32::INFINITY]).is_nan());
        assert_eq!(of("lg2.approx.f32", &[0.0]), f32::NEG_INFINITY);
        assert_eq!(of("ex2.approx.f32", &[f32::NEG_INFINITY]), 0.0);
        assert_eq!(of("div.approx.f32", &[3.0, 1e38]), 0.0);
        assert_ne!(of("div.full.f32", &[3.0, 1e38]), 0.0);
    }
}

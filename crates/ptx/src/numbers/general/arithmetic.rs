//! Arithmetic of every format and rounding.

use super::approximate::approximate;
use super::format::{Emulated, Format, direction, with_format};
use crate::numbers::slot::{General, MOST_OPERANDS, mask};
use crate::operations::{Arithmetic, ArithmeticName as Name};
use crate::words::{Half, Type};
use rustc_apfloat::ieee::Double;
use rustc_apfloat::{Float, Round};

/// The function of an instruction; none if it is not known here.
pub(crate) fn arithmetic(it: &Arithmetic) -> Option<General> {
    let Some((format, count)) = Format::of(it.of) else {
        return integers(it);
    };
    if it.half.is_some() || it.carry.is_some() {
        return None;
    }
    let function = match it.name {
        Name::Min | Name::Max => extreme(it, format)?,
        Name::Negate | Name::Absolute | Name::CopySign => signs(it, format)?,
        _ if it.accuracy.is_some() => approximate(it, format)?,
        name => rounded(name, format, direction(it.rounding)?)?,
    };
    let truncated = match it.ftz.is_some() && it.accuracy.is_none() {
        true => rounded(it.name, format, Round::TowardZero),
        false => None,
    };
    let function = limited(it, format, function, truncated);
    Some(match count {
        1 => function,
        _ => function.of_pairs(format.bits()),
    })
}

/// Whether the type is of one or two floats of 16 bits.
pub(crate) const fn is_of_halves(of: Type) -> bool {
    matches!(of, Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2)
}

/// The sum of such floats, one by one.
pub(crate) fn sum_of_halves(of: Type, a: u64, b: u64) -> u64 {
    let sum = |format: Format, a: u64, b: u64| {
        // f64 has the exact sum.
        format.narrow(format.wide(a) + format.wide(b), Round::NearestTiesToEven)
    };
    match Format::of(of) {
        Some((format, 1)) => sum(format, a & mask(16), b & mask(16)),
        Some((format, _)) => {
            let upper = sum(format, a >> 16 & mask(16), b >> 16 & mask(16));
            upper << 16 | sum(format, a & mask(16), b & mask(16))
        }
        None => a,
    }
}

/// Applies the modifiers to operands and results.
///
/// `truncated` is the function rounded to zero: an H200 flushes what is subnormal before its rounding.
fn limited(
    it: &Arithmetic,
    format: Format,
    function: General,
    truncated: Option<General>,
) -> General {
    let (is_flushed, is_clamped) = (it.ftz.is_some(), it.saturate.is_some());
    let is_rectified = it.relu.is_some();
    if !(is_flushed || is_clamped || is_rectified) {
        return function;
    }
    let (one, least) = (format.one(), format.least_normal());
    function.changed(|function| {
        move |operands: &[u64]| {
            let mut flushed = [0; MOST_OPERANDS];
            for (operand, slot) in flushed.iter_mut().zip(operands) {
                *operand = if is_flushed {
                    format.flushed(*slot)
                } else {
                    *slot
                };
            }
            let mut result = function.call(&flushed[..operands.len()]);
            if is_flushed {
                result = match &truncated {
                    Some(truncated) if result & !format.sign() == least => {
                        format.flushed(truncated.call(&flushed[..operands.len()]))
                    }
                    _ => format.flushed(result),
                };
            }
            let is_nan = format.is_nan(result);
            if is_clamped {
                result = match format.is_negative(result) || is_nan {
                    true => 0,
                    false => result.min(one),
                };
            }
            match is_rectified && !is_nan && format.is_negative(result) {
                true => 0,
                false => result,
            }
        }
    })
}

/// Sums, products and quotients, rounded once.
fn rounded(name: Name, format: Format, round: Round) -> Option<General> {
    if name == Name::SquareRoot {
        return Some(General::new(1, move |x| square_root(format, x[0], round)));
    }
    with_format!(format, N => operation::<N>(name, format, round))
}

fn operation<N: Emulated>(name: Name, format: Format, round: Round) -> Option<General> {
    fn of<N: Float>(slot: u64) -> N {
        N::from_bits(slot.into())
    }
    let slot = move |value: N| match value.is_nan() {
        true => format.nan(),
        false => value.to_bits() as u64,
    };
    Some(match name {
        Name::Add => General::new(2, move |x| slot(of::<N>(x[0]).add_r(of(x[1]), round).value)),
        Name::Subtract => {
            General::new(2, move |x| slot(of::<N>(x[0]).sub_r(of(x[1]), round).value))
        }
        Name::Multiply => {
            General::new(2, move |x| slot(of::<N>(x[0]).mul_r(of(x[1]), round).value))
        }
        Name::Divide => General::new(2, move |x| slot(of::<N>(x[0]).div_r(of(x[1]), round).value)),
        Name::Reciprocal => {
            let one: N = of(format.one());
            General::new(1, move |x| slot(one.div_r(of(x[0]), round).value))
        }
        Name::Fma | Name::MultiplyAdd => General::new(3, move |x| {
            let sum = of::<N>(x[0]).mul_add_r(of(x[1]), of(x[2]), round);
            slot(sum.value)
        }),
        _ => return None,
    })
}

/// A square root in any rounding: that of f64 to nearest, corrected by its remainder.
fn square_root(format: Format, slot: u64, round: Round) -> u64 {
    const SMALL: f64 = f64::from_bits(0x1000_0000_0000_0000);
    const SCALE: f64 = f64::from_bits(0x5ff0_0000_0000_0000);
    let value = format.wide(slot);
    if value > 0.0 && value < SMALL {
        // The remainder would be less than f64 has.
        let root = square_root(Format::F64, (value * SCALE * SCALE).to_bits(), round);
        return format.narrow(f64::from_bits(root) / SCALE, round);
    }
    let root = value.sqrt();
    if root.is_nan() || root.is_infinite() || root == 0.0 || round == Round::NearestTiesToEven {
        return format.narrow(root, round);
    }
    let remainder = root.mul_add(root, -value);
    let nearest = Double::from_bits(root.to_bits().into());
    let below = match remainder > 0.0 {
        true => nearest.next_down().value,
        false => nearest,
    };
    // The root lies between `below` and the next number, and is `below` only without a remainder.
    let is_exact = remainder == 0.0;
    let toward = match round {
        Round::TowardPositive if !is_exact => below.next_up().value,
        _ => below,
    };
    format.narrow(f64::from_bits(toward.to_bits() as u64), round)
}

/// The smallest or largest of two numbers, or of three of f32; none for modifiers that do not go together.
fn extreme(it: &Arithmetic, format: Format) -> Option<General> {
    let is_max = it.name == Name::Max;
    let (keeps_nan, xors_sign) = (it.nan.is_some(), it.xorsign.is_some());
    let of_magnitudes = it.absolute.is_some();
    let counts = match (xors_sign, of_magnitudes, it.of) {
        (false, false, Type::F32) => (2, 3),
        (false, true, Type::F32) => (3, 3),
        (true, true, _) | (false, false, _) => (2, 2),
        (true, false, _) | (false, true, _) => return None,
    };
    Some(General::of_some(counts, move |x| {
        let sign = x.iter().fold(0, |sign, slot| sign ^ slot) & format.sign();
        let magnitude = |slot: u64| match of_magnitudes {
            true => slot & !format.sign(),
            false => slot,
        };
        let chosen = x.iter().map(|slot| magnitude(*slot));
        let chosen = chosen.reduce(|a, b| of_two(format, is_max, keeps_nan, a, b));
        let chosen = chosen.unwrap_or_default();
        match xors_sign && !format.is_nan(chosen) {
            true => chosen | sign,
            false => chosen,
        }
    }))
}

fn of_two(format: Format, is_max: bool, keeps_nan: bool, a: u64, b: u64) -> u64 {
    let (a_is_nan, b_is_nan) = (format.is_nan(a), format.is_nan(b));
    match (a_is_nan, b_is_nan) {
        (true, true) => return format.nan(),
        (true, false) | (false, true) if keeps_nan => return format.nan(),
        (true, false) => return b,
        (false, true) => return a,
        (false, false) => {}
    }
    let (x, y) = (format.wide(a), format.wide(b));
    // -0 comes before +0.
    let a_is_less = x < y || (x == y && format.is_negative(a));
    match a_is_less == is_max {
        true => b,
        false => a,
    }
}

/// Signs alone, which no NaN changes.
fn signs(it: &Arithmetic, format: Format) -> Option<General> {
    let sign = format.sign();
    Some(match it.name {
        Name::Negate => General::new(1, move |x| x[0] ^ sign),
        Name::Absolute => General::new(1, move |x| x[0] & !sign),
        Name::CopySign => General::new(2, move |x| (x[1] & !sign) | (x[0] & sign)),
        _ => return None,
    })
}

/// Integers of 24 bits, and pairs of 16 bits.
fn integers(it: &Arithmetic) -> Option<General> {
    if it.saturate.is_some() {
        return None;
    }
    let is_signed = matches!(it.of, Type::S32 | Type::S16x2);
    match (it.name, it.of) {
        (Name::Multiply24 | Name::MultiplyAdd24, Type::U32 | Type::S32) => {
            let shift = match it.half? {
                Half::Low => 0,
                Half::High => 16,
                Half::Wide => return None,
            };
            let count = if it.name == Name::Multiply24 { 2 } else { 3 };
            Some(General::new(count, move |x| {
                let of = |slot: u64| match is_signed {
                    true => i64::from((slot as i32) << 8 >> 8),
                    false => (slot & mask(24)) as i64,
                };
                let product = (of(x[0]) * of(x[1])) >> shift;
                let addend = x.get(2).copied().unwrap_or_default();
                (product as u64).wrapping_add(addend) & mask(32)
            }))
        }
        (Name::Add | Name::Min | Name::Max, Type::U16x2 | Type::S16x2) => {
            let (name, is_rectified) = (it.name, it.relu.is_some());
            let function = General::new(2, move |x| {
                let of = |slot: u64| match is_signed {
                    true => i32::from(slot as i16),
                    false => i32::from(slot as u16),
                };
                let (a, b) = (of(x[0]), of(x[1]));
                let value = match name {
                    Name::Add => a + b,
                    Name::Min => a.min(b),
                    _ => a.max(b),
                };
                let least = if is_rectified { 0 } else { i32::MIN };
                value.max(least) as u64 & mask(16)
            });
            Some(function.of_pairs(16))
        }
        (Name::Min | Name::Max, Type::S32) if it.relu.is_some() => {
            let is_max = it.name == Name::Max;
            Some(General::new(2, move |x| {
                let (a, b) = (x[0] as i32, x[1] as i32);
                let chosen = if is_max { a.max(b) } else { a.min(b) };
                u64::from(chosen.max(0) as u32)
            }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::Operation;

    fn of(text: &str, operands: &[u64]) -> u64 {
        let words: Vec<&str> = text.split('.').collect();
        let Operation::Arithmetic(it) = Operation::of_words(&words) else {
            panic!("{text}");
        };
        let function = arithmetic(&it).unwrap_or_else(|| panic!("{text}"));
        function.call(operands)
    }

    #[test]
    fn pairs_are_computed_one_by_one() {
        // 1 + 2 and 3 + 0.5 in f16.
        let sum = of("add.rn.f16x2", &[0x4200_3c00, 0x3800_4000]);
        assert_eq!(sum, 0x4300_4200);
        assert_eq!(of("max.s16x2", &[0xffff_0001, 0x0000_0002]), 2);
    }

    #[test]
    fn results_are_clamped_and_rectified() {
        let bits = |value: f32| u64::from(value.to_bits());
        assert_eq!(of("add.rn.sat.f32", &[bits(0.75), bits(0.5)]), bits(1.0));
        assert_eq!(of("add.sat.f32", &[bits(f32::NAN), bits(0.5)]), 0);
        assert_eq!(of("fma.rn.relu.f16", &[0x3c00, 0xbc00, 0]), 0);
        assert_eq!(of("mul.rz.ftz.f32", &[1, bits(4.0)]), 0);
    }

    #[test]
    fn a_half_fma_is_rounded_once() {
        // 1 + 2^-9 squared, less one: the exact value has 2^-18, which two roundings would lose.
        assert_eq!(of("fma.rn.f16", &[0x3c02, 0x3c02, 0xbc00]), 0x1c01);
    }

    #[test]
    fn roots_are_rounded_in_each_direction() {
        let two = u64::from(2_f32.to_bits());
        assert_eq!(of("sqrt.rm.f32", &[two]) + 1, of("sqrt.rp.f32", &[two]));
        let two = 2_f64.to_bits();
        assert_eq!(of("sqrt.rz.f64", &[two]) + 1, of("sqrt.rp.f64", &[two]));
        let four = 4_f64.to_bits();
        assert_eq!(of("sqrt.rp.f64", &[four]), two);
    }

    #[test]
    fn products_of_24_bits() {
        assert_eq!(of("mul24.lo.s32", &[0x00ff_ffff, 3]), 0xffff_fffd);
        assert_eq!(of("mul24.hi.u32", &[0x00ff_ffff, 0x00ff_ffff]), 0xffff_fe00);
        assert_eq!(of("mad24.lo.u32", &[5, 6, 7]), 37);
    }
}

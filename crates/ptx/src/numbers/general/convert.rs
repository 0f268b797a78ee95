//! Conversions with every rounding and limit (PTX ISA, "cvt").

use super::format::{Format, direction, with_format};
use super::{extended, range};
use crate::numbers::slot::{General, mask};
use crate::operations::{Convert, ConvertName};
use crate::words::{Rounding, Type};
use rustc_apfloat::{Float, Round};

/// The function of a conversion; none if it is not known here.
pub(crate) fn convert(it: &Convert) -> Option<General> {
    match it.name {
        ConvertName::Pack => pack(it),
        ConvertName::Convert if it.rest.is_some() => None,
        ConvertName::Convert if it.to == Type::Tf32 => to_tf32(it),
        ConvertName::Convert => match (Format::of(it.to), Format::of(it.from)) {
            (Some((to, 2)), Some((Format::F32, 1))) => {
                let one = between_floats(it, to, Format::F32)?;
                let bits = to.bits();
                // The first operand is the upper one.
                Some(General::new(2, move |x| {
                    one.call(&x[..1]) << bits | one.call(&x[1..2])
                }))
            }
            (Some((to, 2)), Some((from, 2))) => {
                let one = between_floats(it, to, from)?;
                let (wide, narrow) = (to.bits(), from.bits());
                Some(General::new(1, move |x| {
                    let upper = one.call(&[x[0] >> narrow & mask(narrow)]);
                    upper << wide | one.call(&[x[0] & mask(narrow)])
                }))
            }
            (Some((to, 1)), Some((from, 1))) => between_floats(it, to, from),
            (Some((to, 1)), None) => from_integer(it, to),
            (None, Some((from, 1))) => to_integer(it, from),
            (None, None) => between_integers(it),
            _ => None,
        },
    }
}

/// How a number is rounded to an integer; none for other roundings.
fn to_whole(rounding: Option<Rounding>) -> Option<fn(f64) -> f64> {
    Some(match rounding? {
        Rounding::IntegerNearest => f64::round_ties_even,
        Rounding::IntegerZero => f64::trunc,
        Rounding::IntegerDown => f64::floor,
        Rounding::IntegerUp => f64::ceil,
        _ => return None,
    })
}

fn between_floats(it: &Convert, to: Format, from: Format) -> Option<General> {
    let whole = to_whole(it.rounding);
    let round = match whole {
        Some(_) => Round::NearestTiesToEven,
        None => direction(it.rounding)?,
    };
    let flushes = |format| it.ftz.is_some() && format == Format::F32;
    let (flushes_operand, flushes_result) = (flushes(from), flushes(to));
    let (is_clamped, is_rectified) = (it.saturate.is_some(), it.relu.is_some());
    let largest = it.satfinite.map(|_| to.largest());
    Some(General::new(1, move |x| {
        let slot = if flushes_operand {
            from.flushed(x[0])
        } else {
            x[0]
        };
        let mut value = from.wide(slot);
        if let Some(whole) = whole {
            value = whole(value);
        }
        if is_clamped {
            value = if value > 0.0 { value.min(1.0) } else { 0.0 };
        }
        // -0 becomes +0.
        if is_rectified && value <= 0.0 {
            value = 0.0;
        }
        if let Some(largest) = largest
            && !value.is_nan()
        {
            value = value.clamp(-largest, largest);
        }
        let result = match value.is_nan() && to == from {
            true if to == Format::F64 => slot,
            true => to.nan(),
            false => to.narrow(value, round),
        };
        if flushes_result {
            to.flushed(result)
        } else {
            result
        }
    }))
}

fn from_integer(it: &Convert, to: Format) -> Option<General> {
    let (bits, is_signed) = integer(it.from)?;
    let round = direction(it.rounding)?;
    let is_clamped = it.saturate.is_some();
    let one = to.one();
    Some(General::new(1, move |x| {
        let value = extended(x[0], bits, is_signed);
        let slot = with_format!(to, N => N::from_i128_r(value, round).value.to_bits() as u64);
        match is_clamped {
            true if value <= 0 => 0,
            true => one,
            false => slot,
        }
    }))
}

/// Clamped to the type. A NaN is zero, unless one of both types has 64 bits.
fn to_integer(it: &Convert, from: Format) -> Option<General> {
    let (bits, is_signed) = integer(it.to)?;
    let whole = to_whole(it.rounding)?;
    let is_flushed = it.ftz.is_some() && from == Format::F32;
    let nan = match from == Format::F64 || bits == 64 {
        true => 1 << (bits - 1),
        false => 0,
    };
    let (least, most) = range(bits, is_signed);
    Some(General::new(1, move |x| {
        let slot = if is_flushed { from.flushed(x[0]) } else { x[0] };
        let value = whole(from.wide(slot));
        match value.is_nan() {
            true => nan,
            false => (value as i128).clamp(least, most) as u64 & mask(bits),
        }
    }))
}

/// Clamped on request.
fn between_integers(it: &Convert) -> Option<General> {
    let ((from, is_signed), to) = (integer(it.from)?, integer(it.to)?);
    let (least, most) = range(to.0, to.1);
    let is_clamped = it.saturate.is_some();
    Some(General::new(1, move |x| {
        let value = extended(x[0], from, is_signed);
        let value = if is_clamped {
            value.clamp(least, most)
        } else {
            value
        };
        value as u64 & mask(to.0)
    }))
}

/// `cvt.pack.sat`: two integers clamped, above the bits of a third operand.
fn pack(it: &Convert) -> Option<General> {
    let ((bits, _), to) = (integer(it.from)?, integer(it.to)?);
    let (least, most) = range(to.0, to.1);
    let has_rest = it.rest.is_some();
    if to.0 > 16 {
        return None;
    }
    let is_signed = it.from.is_signed();
    let operands = if has_rest { 3 } else { 2 };
    Some(General::new(operands, move |x| {
        let clamped =
            |slot: u64| extended(slot, bits, is_signed).clamp(least, most) as u64 & mask(to.0);
        let rest = if has_rest { x[2] << (2 * to.0) } else { 0 };
        (rest | clamped(x[0]) << to.0 | clamped(x[1])) & mask(32)
    }))
}

/// f32 with 10 bits of fraction.
fn to_tf32(it: &Convert) -> Option<General> {
    const DROPPED: u64 = 0x1fff;
    let rounding = it.rounding?;
    let (is_rectified, is_finite) = (it.relu.is_some(), it.satfinite.is_some());
    Some(General::new(1, move |x| {
        if Format::F32.is_nan(x[0]) {
            // Not documented: an H200 keeps the other bits of a NaN in one rounding, which makes some infinite.
            let kept = match rounding {
                Rounding::NearestAway => x[0],
                _ => Format::F32.nan(),
            };
            return kept & !DROPPED;
        }
        let (sign, magnitude) = (x[0] & Format::F32.sign(), x[0] & !Format::F32.sign());
        let added = match rounding {
            Rounding::NearestAway => DROPPED.div_ceil(2),
            Rounding::NearestEven => DROPPED / 2 + (magnitude >> 13 & 1),
            _ => 0,
        };
        let infinity = 0x7f80_0000;
        let mut rounded = match magnitude < infinity {
            true => (magnitude + added) & !DROPPED,
            false => magnitude,
        };
        if is_finite && rounded >= infinity {
            rounded = infinity - DROPPED - 1;
        }
        match is_rectified && sign != 0 {
            true => 0,
            false => sign | rounded,
        }
    }))
}

/// The bits of an integer type, and whether it has a sign.
fn integer(of: Type) -> Option<(u32, bool)> {
    of.is_integer().then_some((of.bits()?, of.is_signed()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::Operation;

    fn of(text: &str, operands: &[u64]) -> u64 {
        let words: Vec<&str> = text.split('.').collect();
        let Operation::Convert(it) = Operation::of_words(&words) else {
            panic!("{text}");
        };
        let function = convert(&it).unwrap_or_else(|| panic!("{text}"));
        function.call(operands)
    }

    #[test]
    fn integers_are_clamped_on_request() {
        assert_eq!(of("cvt.sat.u8.s32", &[0xffff_ffff]), 0);
        assert_eq!(of("cvt.sat.s8.s32", &[1000]), 127);
        assert_eq!(
            of("cvt.pack.sat.u8.s32.b32", &[300, 5, 0x1234]),
            0x1234_ff05
        );
    }

    #[test]
    fn a_nan_is_zero_only_in_32_bits() {
        let (narrow, wide) = (0x7fff_ffff, f64::NAN.to_bits());
        assert_eq!(of("cvt.rzi.ftz.s32.f32", &[narrow]), 0);
        assert_eq!(of("cvt.rzi.s64.f32", &[narrow]), 1 << 63);
        assert_eq!(of("cvt.rzi.u32.f64", &[wide]), 1 << 31);
    }

    #[test]
    fn small_formats_are_rounded_and_limited() {
        let bits = |value: f32| u64::from(value.to_bits());
        let pair = of("cvt.rn.satfinite.e4m3x2.f32", &[bits(1000.0), bits(1.0)]);
        assert_eq!(pair, 0x7e38);
        assert_eq!(of("cvt.rn.f16x2.e4m3x2", &[0x7e38]), 0x5f00_3c00);
        assert_eq!(
            of("cvt.rna.tf32.f32", &[bits(1.0) | 0x1000]),
            bits(1.0) + 0x2000
        );
        assert_eq!(of("cvt.rn.tf32.f32", &[bits(1.0) | 0x1000]), bits(1.0));
        assert_eq!(of("cvt.rna.tf32.f32", &[0xff80_1fff]), 0xff80_0000);
        assert_eq!(of("cvt.rz.bf16.f32", &[bits(1.0) | 0xffff]), 0x3f80);
        assert_eq!(of("cvt.rn.relu.f16.f32", &[bits(-2.0)]), 0);
        assert_eq!(of("cvt.rm.f32.s32", &[0x7fff_ffff]), 0x4eff_ffff);
    }
}

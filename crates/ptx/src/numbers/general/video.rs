//! Arithmetic of the parts of words.

use super::{extended, has_sign, range};
use crate::numbers::slot::{General, mask};
use crate::operations::{Video, VideoName as Name};

/// The function of an instruction on bytes or halves.
pub(crate) fn video(it: &Video) -> Option<General> {
    let bits = match it.name {
        Name::AddBytes
        | Name::SubtractBytes
        | Name::AverageBytes
        | Name::DifferenceBytes
        | Name::MinBytes
        | Name::MaxBytes => 8,
        _ => 16,
    };
    let function: fn(i128, i128) -> i128 = match it.name {
        Name::AddBytes | Name::AddHalves => |a, b| a + b,
        Name::SubtractBytes | Name::SubtractHalves => |a, b| a - b,
        Name::AverageBytes | Name::AverageHalves => |a, b| {
            let sum = a + b;
            (sum + i128::from(sum >= 0)) >> 1
        },
        Name::DifferenceBytes | Name::DifferenceHalves => |a, b| (a - b).abs(),
        Name::MinBytes | Name::MinHalves => i128::min,
        Name::MaxBytes | Name::MaxHalves => i128::max,
    };
    let (a_signed, b_signed, d_signed) = (has_sign(it.a)?, has_sign(it.b)?, has_sign(it.d)?);
    let (is_clamped, adds) = (it.saturate.is_some(), it.accumulate.is_some());
    let (least, most) = range(bits, d_signed);
    Some(General::new(3, move |x| {
        let parts = (0..32 / bits).map(|number| {
            let place = number * bits;
            let (a, b) = (x[0] >> place, x[1] >> place);
            let (a, b) = (extended(a, bits, a_signed), extended(b, bits, b_signed));
            let result = function(a, b);
            (
                place,
                if is_clamped {
                    result.clamp(least, most)
                } else {
                    result
                },
            )
        });
        match adds {
            true => parts.fold(x[2], |sum, (_, part)| sum.wrapping_add(part as u64)) & mask(32),
            false => parts.fold(0, |word, (place, part)| {
                word | (part as u64 & mask(bits)) << place
            }),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::Operation;

    #[test]
    fn parts_are_computed_one_by_one() {
        let of = |text: &str, operands: &[u64]| {
            let words: Vec<&str> = text.split('.').collect();
            let Operation::Video(it) = Operation::of_words(&words) else {
                panic!("{text}");
            };
            video(&it).unwrap().call(operands)
        };
        assert_eq!(
            of("vadd4.u32.u32.u32", &[0x01ff_0304, 0x0101_0101, 0]),
            0x0200_0405
        );
        assert_eq!(
            of("vadd4.u32.u32.u32.sat", &[0x01ff_0304, 0x0101_0101, 0]),
            0x02ff_0405
        );
        assert_eq!(
            of("vabsdiff4.u32.u32.u32.add", &[0x0000_0305, 0x0000_0501, 10]),
            16
        );
        assert_eq!(of("vmax2.s32.s32.s32", &[0xffff_0001, 0x0000_8000, 0]), 1);
    }
}

//! Rare operations on parts of words.

use super::has_sign;
use crate::numbers::slot::{General, mask};
use crate::operations::{BitField, BitFieldName as Name, DotProduct, DotProductName};
use crate::words::{Half, PermuteMode, ShiftRange};

/// The function of an instruction on parts of words.
pub(crate) fn bit_field(it: &BitField) -> Option<General> {
    let bits = it.of.bits()?;
    let is_signed = it.of.is_signed();
    Some(match it.name {
        Name::Find => {
            let is_amount = it.shiftamt.is_some();
            General::new(1, move |x| {
                let own = x[0] & mask(bits);
                let is_negative = is_signed && own >> (bits - 1) == 1;
                let word = if is_negative { !own & mask(bits) } else { own };
                match word.checked_ilog2() {
                    None => mask(32),
                    Some(place) if is_amount => u64::from(bits - 1 - place),
                    Some(place) => place.into(),
                }
            })
        }
        Name::Mask => {
            let wraps = it.range? == ShiftRange::Wrap;
            General::new(2, move |x| {
                let of = |slot: u64| if wraps { slot & 31 } else { slot.min(32) };
                (mask(of(x[1]) as u32) << of(x[0])) & mask(32)
            })
        }
        Name::Extend => {
            let wraps = it.range? == ShiftRange::Wrap;
            General::new(2, move |x| {
                let length = if wraps { x[1] & 31 } else { x[1].min(32) } as u32;
                let low = x[0] & mask(length);
                let is_negative = is_signed && length > 0 && low >> (length - 1) & 1 == 1;
                let high = if is_negative { !mask(length) } else { 0 };
                (low | high) & mask(32)
            })
        }
        Name::Permute => {
            let mode = it.mode?;
            General::new(3, move |x| {
                permuted(mode, x[0] & mask(32) | x[1] << 32, x[2] & 3)
            })
        }
        Name::FindNth => General::new(3, |x| find_nth(x[0], x[1] & 31, x[2] as i32)),
        _ => return None,
    })
}

/// `prmt` by a mode (PTX ISA, "prmt").
fn permuted(mode: PermuteMode, bytes: u64, by: u64) -> u64 {
    let places: [u64; 4] = match mode {
        PermuteMode::Forward => [by, by + 1, by + 2, by + 3],
        PermuteMode::Backward => [by, (by + 7) & 7, (by + 6) & 7, (by + 5) & 7],
        PermuteMode::Replicate => [by; 4],
        PermuteMode::EdgeLeft => [0, 1, 2, 3].map(|place| place.max(by)),
        PermuteMode::EdgeRight => [0, 1, 2, 3].map(|place| place.min(by)),
        PermuteMode::Halves => {
            let first = 2 * (by & 1);
            [first, first + 1, first, first + 1]
        }
    };
    let byte = |place: u64| bytes >> (8 * place) & 0xff;
    let places = places.into_iter().enumerate();
    places.fold(0, |word, (to, from)| word | byte(from) << (8 * to))
}

/// `fns`: the place of the bit that is number `offset` among those set, from `base` on.
fn find_nth(word: u64, base: u64, offset: i32) -> u64 {
    let is_set = |place: &u64| word >> place & 1 == 1;
    let found = match offset {
        0 => Some(base).filter(is_set),
        1.. => (base..32).filter(is_set).nth(offset as usize - 1),
        _ => (0..=base)
            .rev()
            .filter(is_set)
            .nth(offset.unsigned_abs() as usize - 1),
    };
    found.unwrap_or(mask(32))
}

/// `dp2a`: products of two words of 16 bits and two bytes.
pub(crate) fn dot_product_of_halves(it: &DotProduct) -> Option<General> {
    if it.name != DotProductName::Two {
        return None;
    }
    let (a_is_signed, b_is_signed) = (has_sign(it.a)?, has_sign(it.b)?);
    let first = match it.half? {
        Half::Low => 0,
        Half::High => 2,
        Half::Wide => return None,
    };
    Some(General::new(3, move |x| {
        let product = |place: u32| {
            let (a, b) = (x[0] >> (16 * place), x[1] >> (8 * (first + place)));
            let a = if a_is_signed {
                i64::from(a as i16)
            } else {
                i64::from(a as u16)
            };
            let b = if b_is_signed {
                i64::from(b as i8)
            } else {
                i64::from(b as u8)
            };
            (a * b) as u64
        };
        let sum = product(0).wrapping_add(product(1)).wrapping_add(x[2]);
        sum & mask(32)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::Operation;

    fn of(text: &str, operands: &[u64]) -> u64 {
        let words: Vec<&str> = text.split('.').collect();
        let function = match Operation::of_words(&words) {
            Operation::BitField(it) => bit_field(&it),
            Operation::DotProduct(it) => dot_product_of_halves(&it),
            _ => None,
        };
        function.unwrap_or_else(|| panic!("{text}")).call(operands)
    }

    #[test]
    fn bits_are_found() {
        assert_eq!(of("bfind.u32", &[0x100]), 8);
        assert_eq!(of("bfind.shiftamt.u32", &[0x100]), 23);
        assert_eq!(of("bfind.s32", &[0xffff_ffff]), 0xffff_ffff);
        assert_eq!(of("fns.b32", &[0b1010, 0, 2]), 3);
    }

    #[test]
    fn bytes_are_chosen_by_mode() {
        let (a, b) = (0x3322_1100, 0x7766_5544);
        assert_eq!(of("prmt.b32.f4e", &[a, b, 1]), 0x4433_2211);
        assert_eq!(of("prmt.b32.b4e", &[a, b, 1]), 0x6677_0011);
        assert_eq!(of("prmt.b32.rc16", &[a, b, 1]), 0x3322_3322);
    }

    #[test]
    fn halves_are_multiplied_by_bytes() {
        assert_eq!(of("dp2a.lo.s32.s32", &[0xffff_0002, 0x03_04, 1]), 6);
    }
}

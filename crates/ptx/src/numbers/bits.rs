//! Logic, shifts, and parts of words (PTX ISA, 9.7.1 and 9.7.8).

use super::slot::{Function, Number, mask};
use crate::operations::{
    BitField, BitFieldName, Bits, BitsName, DotProduct, DotProductName, Funnel,
};
use crate::words::{FunnelShift, ShiftRange, Type};

/// The function of an instruction on bits.
pub(crate) fn bits(it: &Bits) -> Option<Function> {
    let both: Option<fn(u64, u64) -> u64> = match it.name {
        BitsName::And => Some(|a, b| a & b),
        BitsName::Or => Some(|a, b| a | b),
        BitsName::Xor => Some(|a, b| a ^ b),
        _ => None,
    };
    if let Some(both) = both {
        return Some(Function::Binary(both));
    }
    match it.of {
        Type::Pred if it.name == BitsName::Not => Some(Function::Unary(|a| a ^ 1)),
        Type::B16 | Type::U16 => of_width::<16>(it.name),
        Type::S16 => signed_shift::<i16, 15>(it.name),
        Type::B32 | Type::U32 => of_width::<32>(it.name),
        Type::S32 => signed_shift::<i32, 31>(it.name),
        Type::B64 | Type::U64 => of_width::<64>(it.name),
        Type::S64 => signed_shift::<i64, 63>(it.name),
        _ => None,
    }
}

/// Of an unsigned number.
fn of_width<const BITS: u32>(name: BitsName) -> Option<Function> {
    Some(match name {
        BitsName::Not => Function::Unary(|a| !a & mask(BITS)),
        BitsName::LogicalNot => Function::Unary(|a| (a == 0).into()),
        BitsName::ShiftLeft => Function::Binary(|a, by| match by as u32 {
            by if by >= BITS => 0,
            by => (a << by) & mask(BITS),
        }),
        BitsName::ShiftRight => Function::Binary(|a, by| match by as u32 {
            by if by >= BITS => 0,
            by => a >> by,
        }),
        BitsName::LeadingZeros => {
            Function::Unary(|a| u64::from((a & mask(BITS)).leading_zeros() - (64 - BITS)))
        }
        BitsName::PopulationCount => Function::Unary(|a| a.count_ones().into()),
        BitsName::Reverse => Function::Unary(|a| a.reverse_bits() >> (64 - BITS)),
        _ => return None,
    })
}

/// Shifts to the right, by at most `MOST` places.
fn signed_shift<N, const MOST: u32>(name: BitsName) -> Option<Function>
where
    N: Number + std::ops::Shr<u32, Output = N>,
{
    let shift: fn(u64, u64) -> u64 = |a, by| (N::of(a) >> (by as u32).min(MOST)).slot();
    (name == BitsName::ShiftRight).then_some(Function::Binary(shift))
}

/// The function of an instruction on parts of words.
pub(crate) fn bit_field(it: &BitField) -> Option<Function> {
    Some(match (it.name, it.of) {
        (BitFieldName::Extract, Type::U32) => {
            Function::Ternary(|a, position, length| extract(a, position & 0xff, length & 0xff))
        }
        (BitFieldName::Extract, Type::U64) => Function::Ternary(extract),
        (BitFieldName::Extract, Type::S32) => Function::Ternary(|a, position, length| {
            let a = i64::from(i32::of(a));
            extract_signed(a, 32, position & 0xff, length & 0xff) & mask(32)
        }),
        (BitFieldName::Extract, Type::S64) => {
            Function::Ternary(|a, position, length| extract_signed(a as i64, 64, position, length))
        }
        (BitFieldName::Insert, Type::B32) => Function::Quaternary(|them| insert(them, 32)),
        (BitFieldName::Insert, Type::B64) => Function::Quaternary(|them| insert(them, 64)),
        (BitFieldName::Logic3, Type::B32) if it.combine.is_none() => Function::Quaternary(logic),
        (BitFieldName::Permute, Type::B32) if it.mode.is_none() => Function::Ternary(permute),
        _ => return None,
    })
}

/// `bfe` of an unsigned number (PTX ISA, "bfe").
///
/// The ISA limits positions and lengths to 255. Of larger ones, 32-bit instructions take the low byte. For 64-bit ones,
/// ptxas emits shifts, which take all bits.
fn extract(a: u64, position: u64, length: u64) -> u64 {
    match position {
        0..64 => (a >> position) & mask(length as u32),
        _ => 0,
    }
}

/// `bfe` of a signed number, as [`extract`].
fn extract_signed(a: i64, bits: u64, position: u64, length: u64) -> u64 {
    if length == 0 {
        return 0;
    }
    let bit = |place: u64| (a >> place.min(bits - 1)) as u64 & 1;
    let sign = bit(position.saturating_add(length - 1).min(bits - 1));
    let of_place = |place: u64| match place < length && position < bits - place {
        true => bit(position + place),
        false => sign,
    };
    (0..bits).fold(0, |field, place| field | of_place(place) << place)
}

/// `bfi`: `[a, b, position, length]`, `a` into `b`.
fn insert([a, b, position, length]: [u64; 4], bits: u64) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    if position >= bits {
        return b;
    }
    let field = (mask(length as u32) << position) & mask(bits as u32);
    (b & !field) | ((a << position) & field)
}

/// `lop3`: the last operand is the table of the function of three bits.
fn logic([a, b, c, table]: [u64; 4]) -> u64 {
    let of_bit = |place: u32| {
        let bit = |word: u64| word >> place & 1;
        table >> (bit(a) << 2 | bit(b) << 1 | bit(c)) & 1
    };
    (0..32).fold(0, |word, place| word | of_bit(place) << place)
}

/// `prmt`: four bytes of eight, by four selectors.
fn permute(a: u64, b: u64, selectors: u64) -> u64 {
    let bytes = a | b << 32;
    let chosen = |place: u64| {
        let selector = selectors >> (4 * place);
        let byte = bytes >> (8 * (selector & 7)) & 0xff;
        match selector & 8 {
            0 => byte,
            _ => (byte >> 7) * 0xff,
        }
    };
    (0..4).fold(0, |word, place| word | chosen(place) << (8 * place))
}

/// The function of a shift of two words.
pub(crate) fn funnel(it: &Funnel) -> Option<Function> {
    Some(match (it.direction, it.range) {
        (FunnelShift::Left, ShiftRange::Wrap) => {
            Function::Ternary(|low, high, by| ((low | high << 32) << (by & 31)) >> 32)
        }
        (FunnelShift::Right, ShiftRange::Wrap) => {
            Function::Ternary(|low, high, by| ((low | high << 32) >> (by & 31)) & mask(32))
        }
        (FunnelShift::Left, ShiftRange::Clamp) => {
            Function::Ternary(|low, high, by| ((low | high << 32) << by.min(32)) >> 32)
        }
        (FunnelShift::Right, ShiftRange::Clamp) => {
            Function::Ternary(|low, high, by| ((low | high << 32) >> by.min(32)) & mask(32))
        }
    })
}

/// The function of a sum of products of bytes.
pub(crate) fn dot_product(it: &DotProduct) -> Option<Function> {
    if it.name != DotProductName::Four {
        return None;
    }
    Some(match (it.a, it.b) {
        (Type::S32, Type::S32) => Function::Ternary(dot::<i8, i8>),
        (Type::S32, Type::U32) => Function::Ternary(dot::<i8, u8>),
        (Type::U32, Type::S32) => Function::Ternary(dot::<u8, i8>),
        (Type::U32, Type::U32) => Function::Ternary(dot::<u8, u8>),
        _ => return None,
    })
}

fn dot<A: Number + Into<i32>, B: Number + Into<i32>>(a: u64, b: u64, sum: u64) -> u64 {
    let product = |place: u32| A::of(a >> place).into() * B::of(b >> place).into();
    let products = [0, 8, 16, 24].map(product).into_iter();
    products.fold(i32::of(sum), i32::wrapping_add).slot()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_beyond_the_width_shift_everything_out() {
        let of = |name, of| bits(&Bits { name, of }).unwrap();
        let Function::Binary(left) = of(BitsName::ShiftLeft, Type::B32) else {
            panic!("of two operands")
        };
        assert_eq!((left(1, 31), left(1, 32)), (0x8000_0000, 0));
        let Function::Binary(right) = of(BitsName::ShiftRight, Type::S32) else {
            panic!("of two operands")
        };
        assert_eq!(
            (right(0x8000_0000, 40), right(0x7fff_ffff, 40)),
            (0xffff_ffff, 0)
        );
    }

    #[test]
    fn fields_keep_or_spread_their_sign() {
        assert_eq!(extract_signed(0xf0, 32, 4, 4) & mask(32), 0xffff_ffff);
        assert_eq!(extract_signed(0x70, 32, 4, 4), 7);
        assert_eq!(insert([0xff, 0, 4, 4], 32), 0xf0);
    }

    #[test]
    fn bytes_and_functions_are_chosen() {
        assert_eq!(permute(0x4433_2211, 0x8877_6655, 0x7531), 0x8866_4422);
        assert_eq!(
            permute(0x80, 0, 0x8),
            0xff | 0x80 << 8 | 0x80 << 16 | 0x80 << 24
        );
        assert_eq!(logic([0b1100, 0b1010, 0, 0b1100_0000]), 0b1000);
    }

    #[test]
    fn a_dot_product_has_signed_bytes() {
        assert_eq!(
            dot::<i8, i8>(0x0000_00ff, 0x0000_0002, 1),
            u64::from(-1_i32 as u32)
        );
        assert_eq!(dot::<u8, i8>(0x0000_00ff, 0x0000_0002, 1), 511);
    }
}

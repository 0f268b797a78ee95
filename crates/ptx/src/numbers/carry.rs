//! Sums and differences with a carry (PTX ISA, 9.7.2).

use crate::words::Type;

/// A function of two numbers and a carry: 0 or 1.
type WithCarry = fn(u64, u64, u64) -> u64;

/// The result and the carry. As on devices, that of a difference is 1 where nothing is borrowed.
pub(crate) type CarryFunctions = (WithCarry, WithCarry);

/// The 32 bits of a register, whatever the slot has above them.
fn word(slot: u64) -> u64 {
    slot & 0xffff_ffff
}

/// `a + b + carry`, or `a - b - 1 + carry`, of a type that has them.
pub(crate) fn with_carry(is_sum: bool, of: Type) -> Option<CarryFunctions> {
    let is_wide = match of {
        Type::U32 | Type::S32 => false,
        Type::U64 | Type::S64 => true,
        _ => return None,
    };
    Some(match (is_sum, is_wide) {
        (true, false) => (
            |a, b, carry| (word(a) + word(b) + carry) & 0xffff_ffff,
            |a, b, carry| (word(a) + word(b) + carry) >> 32,
        ),
        (true, true) => (
            |a, b, carry| a.wrapping_add(b).wrapping_add(carry),
            |a, b, carry| ((u128::from(a) + u128::from(b) + u128::from(carry)) >> 64) as u64,
        ),
        (false, false) => (
            |a, b, carry| a.wrapping_sub(b).wrapping_sub(1 - carry) & 0xffff_ffff,
            |a, b, carry| (word(a) + carry > word(b)).into(),
        ),
        (false, true) => (
            |a, b, carry| a.wrapping_sub(b).wrapping_sub(1 - carry),
            |a, b, carry| (u128::from(a) + u128::from(carry) > u128::from(b)).into(),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_go_from_word_to_word() {
        let (sum, carry) = with_carry(true, Type::U32).unwrap();
        assert_eq!(
            (
                sum(u64::from(u32::MAX), 1, 0),
                carry(u64::from(u32::MAX), 1, 0)
            ),
            (0, 1)
        );
        assert_eq!((sum(3, 4, 1), carry(3, 4, 1)), (8, 0));
        let (difference, carry) = with_carry(false, Type::U64).unwrap();
        assert_eq!((difference(0, u64::MAX, 0), carry(0, u64::MAX, 0)), (0, 0));
        assert_eq!((difference(5, 5, 1), carry(5, 5, 1)), (0, 1));
    }
}

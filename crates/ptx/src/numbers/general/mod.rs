//! Less usual instructions: with `.ftz`, `.sat`, `.relu`, on packed numbers, and approximations.
//!
//! Their functions are put together when a kernel is decoded. A plain instruction has a function pointer, which is
//! faster.

mod approximate;
mod arithmetic;
mod bits;
mod compare;
mod convert;
mod format;
mod video;

pub(crate) use arithmetic::{arithmetic, is_of_halves, sum_of_halves};
pub(crate) use bits::{bit_field, dot_product_of_halves};
pub(crate) use compare::{select_by_sign, set, test_number};
pub(crate) use convert::convert;
pub(crate) use video::video;

use super::slot::mask;
use crate::words::Type;

/// Whether an integer type of 32 bits has a sign; none for other types.
fn has_sign(of: Type) -> Option<bool> {
    match of {
        Type::S32 => Some(true),
        Type::U32 => Some(false),
        _ => None,
    }
}

/// The least and the greatest integer of `bits` bits.
fn range(bits: u32, is_signed: bool) -> (i128, i128) {
    match is_signed {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

/// The integer in the lowest `bits` bits.
fn extended(slot: u64, bits: u32, is_signed: bool) -> i128 {
    let value = i128::from(slot & mask(bits));
    match is_signed && value >> (bits - 1) & 1 == 1 {
        true => value - (1 << bits),
        false => value,
    }
}

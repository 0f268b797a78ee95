//! The arithmetic of instructions, on 64-bit slots.
//!
//! A slot holds the bits of a register of at most 64 bits; those above the register's width are zero. Predicates are 0
//! and 1.

mod bits;
mod carry;
mod compare;
mod convert;
mod directed;
mod float;
pub(crate) mod general;
mod integer;
mod products;
mod slot;

pub(crate) use bits::{bit_field, bits, dot_product, funnel};
pub(crate) use carry::with_carry;
pub(crate) use compare::{comparison, select};
pub(crate) use convert::convert;
pub(crate) use float::float;
pub(crate) use integer::integer;
pub(crate) use products::{WarpProduct, clamped, is_clamped, registers_of, warp_product};
pub(crate) use slot::{Flushed, Function, General, MOST_OPERANDS, Number, mask};

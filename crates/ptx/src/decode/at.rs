//! What an instruction has around it.

use super::error::DecodeErrorKind::{self, Unsupported};
use crate::syntax::Operand;

/// The result of a step.
pub(super) type Decoded<T> = Result<T, DecodeErrorKind>;

/// An instruction's operands, and the names that it knows.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub scope: usize,
    /// The number of its step: it knows what is declared before.
    pub number: usize,
    pub operands: &'a [Operand],
}

impl<'a> At<'a> {
    /// Exactly `N` operands.
    pub fn exactly<const N: usize>(self) -> Decoded<&'a [Operand; N]> {
        self.operands.try_into().map_err(|_| Unsupported)
    }

    /// The first `N` operands, and the rest.
    pub fn split<const N: usize>(self) -> Decoded<(&'a [Operand; N], &'a [Operand])> {
        self.operands.split_first_chunk().ok_or(Unsupported)
    }

    /// The operands, which are the four vectors of a product: D, A, B and C.
    pub fn vectors(self) -> Decoded<[&'a [Operand]; 4]> {
        match self.operands {
            [
                Operand::Vector(d),
                Operand::Vector(a),
                Operand::Vector(b),
                Operand::Vector(c),
            ] => Ok([d, a, b, c]),
            _ => Err(Unsupported),
        }
    }
}

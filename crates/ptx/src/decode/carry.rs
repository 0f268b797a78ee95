//! Instructions that set the carry or use it.

use super::at::{At, Decoded};
use super::decoder::Decoder;
use super::error::DecodeErrorKind::Unsupported;
use super::op::Op;
use crate::numbers::{Function, integer, with_carry};
use crate::operations::{Arithmetic, ArithmeticName};

impl Decoder<'_> {
    /// An addition, a subtraction, or the addition to a product, with a carry.
    pub(super) fn carried(&mut self, at: At<'_>, it: &Arithmetic) -> Decoded<()> {
        let ([d, a, b], rest) = at.split()?;
        let (a, b) = (self.source(at, a, it.of)?, self.source(at, b, it.of)?);
        let (a, b) = match (it.name, rest) {
            (ArithmeticName::MultiplyAdd | ArithmeticName::MultiplyAddCarry, [c]) => {
                let c = self.source(at, c, it.of)?;
                let multiply = Arithmetic {
                    name: ArithmeticName::Multiply,
                    carry: None,
                    ..*it
                };
                let Some(Function::Binary(f)) = integer(&multiply) else {
                    return Err(Unsupported);
                };
                let d = self.scratch();
                self.emit(Op::Binary { f, d, a, b });
                (d, c)
            }
            (_, []) => (a, b),
            _ => return Err(Unsupported),
        };
        let is_sum = !matches!(
            it.name,
            ArithmeticName::Subtract | ArithmeticName::SubtractCarry
        );
        let uses_carry = matches!(
            it.name,
            ArithmeticName::AddCarry
                | ArithmeticName::SubtractCarry
                | ArithmeticName::MultiplyAddCarry
        );
        let (value, carry_out) = with_carry(is_sum, it.of).ok_or(Unsupported)?;
        let carry = self.carry();
        // That of a difference is set where nothing is borrowed.
        let none = self.constant((!is_sum).into());
        let c = if uses_carry { carry } else { none };
        // The result's register may be one of the operands'.
        let out = self.scratch();
        self.emit(Op::Ternary {
            f: carry_out,
            d: out,
            a,
            b,
            c,
        });
        let (d, _) = self.destination(at, d)?;
        self.emit(Op::Ternary {
            f: value,
            d,
            a,
            b,
            c,
        });
        if it.carry.is_some() {
            self.emit(Op::Copy { d: carry, a: out });
        }
        Ok(())
    }

    /// The slot of the carry.
    fn carry(&mut self) -> u32 {
        *self.carry.get_or_insert_with(|| self.storage.slot(0))
    }
}

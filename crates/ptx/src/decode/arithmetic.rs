//! Arithmetic, comparisons and moves.

use super::at::{At, Decoded};
use super::decoder::{Decoder, or_general};
use super::error::DecodeErrorKind::{Operand as WrongOperand, Unsupported};
use super::op::Op;
use crate::numbers::{
    Function, Number, bit_field, bits, comparison, float, general, integer, mask, select,
};
use crate::operations::{
    Arithmetic, ArithmeticName, BitField, BitFieldName, Bits, BitsName, Compare, CompareName,
    Convert, ConvertName, Move, Select, SelectName,
};
use crate::syntax::Operand;
use crate::words::{CombinePredicate, Half, Type};

/// A signed number in a register of this width.
fn spread<N: Number + Into<i64>>(width: u32) -> fn(u64) -> u64 {
    match width {
        16 => |a| N::of(a).into() as u64 & mask(16),
        32 => |a| N::of(a).into() as u64 & mask(32),
        _ => |a| N::of(a).into() as u64,
    }
}

impl Decoder<'_> {
    pub(super) fn arithmetic(&mut self, at: At<'_>, it: &Arithmetic) -> Decoded<()> {
        let uses_carry = matches!(
            it.name,
            ArithmeticName::AddCarry
                | ArithmeticName::SubtractCarry
                | ArithmeticName::MultiplyAddCarry
        );
        if uses_carry || it.carry.is_some() {
            return self.carried(at, it);
        }
        // The plain functions of these have two operands.
        let is_of_three =
            matches!(it.name, ArithmeticName::Min | ArithmeticName::Max) && at.operands.len() == 4;
        let plain = integer(it).or_else(|| float(it));
        let plain = plain.filter(|_| !is_of_three);
        let general = || general::arithmetic(it);
        let addend = match it.half {
            Some(Half::Wide) => twice_as_wide(it.of),
            _ => it.of,
        };
        let of = |number| if number == 2 { addend } else { it.of };
        self.function_of_each(at, or_general(plain, general), of)
    }

    /// Logic, shifts and counts. The distance of a shift has 32 bits.
    pub(super) fn bits(&mut self, at: At<'_>, it: &Bits) -> Decoded<()> {
        let is_shift = matches!(it.name, BitsName::ShiftLeft | BitsName::ShiftRight);
        let of = |number| match number {
            1 if is_shift => Type::U32,
            _ => it.of,
        };
        self.function_of_each(at, bits(it), of)
    }

    /// Spreads the sign of a conversion's result over a wider register (PTX ISA, "Operand Size Exceeding
    /// Instruction-Type Size").
    pub(super) fn sign_extended(&mut self, at: At<'_>, it: &Convert) -> Decoded<()> {
        let ([d, ..], ConvertName::Convert) = (at.operands, it.name) else {
            return Ok(());
        };
        let (d, width) = self.destination(at, d)?;
        let f = match it.to {
            Type::S8 if width > 8 => spread::<i8>(width),
            Type::S16 if width > 16 => spread::<i16>(width),
            Type::S32 if width > 32 => spread::<i32>(width),
            _ => return Ok(()),
        };
        self.emit(Op::Unary { f, d, a: d });
        Ok(())
    }

    pub(super) fn bit_field(&mut self, at: At<'_>, it: &BitField) -> Decoded<()> {
        let general = || general::bit_field(it);
        let function = or_general(bit_field(it), general);
        // Positions and lengths have 32 bits, as all operands of the other instructions.
        let values = match it.name {
            BitFieldName::Insert => 2,
            _ => 1,
        };
        self.function_of_each(at, function, |number| match number < values {
            true => it.of,
            false => Type::U32,
        })
    }

    pub(super) fn select(&mut self, at: At<'_>, it: &Select) -> Decoded<()> {
        let function = match it.name {
            SelectName::ByPredicate => Some(select()),
            SelectName::BySign => general::select_by_sign(it).map(Function::General),
        };
        let by = it.by.unwrap_or(Type::Pred);
        let of = |number| if number == 2 { by } else { it.of };
        self.function_of_each(at, function, of)
    }

    pub(super) fn compare(&mut self, at: At<'_>, it: &Compare) -> Decoded<()> {
        if it.name == CompareName::Set {
            let function = general::set(it).map(Function::General);
            let of = it.from.unwrap_or(it.of);
            return self.function_of_each(at, function, |number| match number {
                0 | 1 => of,
                _ => Type::Pred,
            });
        }
        if matches!(it.of, Type::F16x2 | Type::Bf16x2) {
            return self.compare_pairs(at, it);
        }
        let f = comparison(it.comparison, it.of, it.ftz.is_some()).ok_or(Unsupported)?;
        let ([d, a, b], rest) = at.split()?;
        let (a, b) = (self.source(at, a, it.of)?, self.source(at, b, it.of)?);
        let combined = match (it.combine, rest) {
            (None, []) => None,
            (Some(how), [with]) => Some((combination(how), self.source(at, with, Type::Pred)?)),
            _ => return Err(Unsupported),
        };
        let (first, second) = match d {
            Operand::Pair(first, second) => (
                self.named_destination(at, first)?.0,
                Some(self.named_destination(at, second)?.0),
            ),
            d => (self.destination(at, d)?.0, None),
        };
        let Some(second) = second else {
            return self.compared(first, (f, a, b), combined);
        };
        // The first result's register may be one of the operands'.
        let direct = self.scratch();
        self.emit(Op::Binary { f, d: direct, a, b });
        let (opposite, zero) = (self.scratch(), self.constant(0));
        self.emit(Op::Unary {
            f: |a| a ^ 1,
            d: opposite,
            a: direct,
        });
        let both: Combination = |a, _| a;
        let with = combined.map(|(f, with)| {
            let kept = self.scratch();
            self.emit(Op::Copy { d: kept, a: with });
            (f, kept)
        });
        self.compared(first, (both, direct, zero), with)?;
        self.compared(second, (both, opposite, zero), with)
    }

    /// Compares two numbers each; the first result is that of the lower ones.
    fn compare_pairs(&mut self, at: At<'_>, it: &Compare) -> Decoded<()> {
        let of = match it.of {
            Type::F16x2 => Type::F16,
            _ => Type::Bf16,
        };
        let f = comparison(it.comparison, of, it.ftz.is_some()).ok_or(Unsupported)?;
        let ([Operand::Pair(lower, upper), a, b], None) = (at.operands, it.combine) else {
            return Err(Unsupported);
        };
        let (lower, _) = self.named_destination(at, lower)?;
        let (upper, _) = self.named_destination(at, upper)?;
        let (a, b) = (self.source(at, a, it.of)?, self.source(at, b, it.of)?);
        self.emit(Op::Binary { f, d: lower, a, b });
        let [a, b] = [a, b].map(|a| {
            let d = self.scratch();
            let f = |word| word >> 16;
            self.emit(Op::Unary { f, d, a });
            d
        });
        self.emit(Op::Binary { f, d: upper, a, b });
        Ok(())
    }

    /// Compares, combines, and stores the predicate.
    fn compared(
        &mut self,
        to: u32,
        (f, a, b): (Combination, u32, u32),
        combined: Option<(Combination, u32)>,
    ) -> Decoded<()> {
        let Some((combine, with)) = combined else {
            self.emit(Op::Binary { f, d: to, a, b });
            return Ok(());
        };
        let d = self.scratch();
        self.emit(Op::Binary { f, d, a, b });
        self.emit(Op::Binary {
            f: combine,
            d: to,
            a: d,
            b: with,
        });
        Ok(())
    }

    pub(super) fn move_value(&mut self, at: At<'_>, it: &Move) -> Decoded<()> {
        match at.operands {
            [Operand::Vector(to), from] => {
                let bits = bits_of_parts(it.of, to.len())?;
                let a = self.source(at, from, it.of)?;
                let to = self.destinations(at, to)?;
                self.emit(Op::Unpack { to, a, bits });
            }
            [d, Operand::Vector(from)] => {
                let bits = bits_of_parts(it.of, from.len())?;
                let from = self.sources(at, from, bits_of_width(bits)?)?;
                let (d, _) = self.destination(at, d)?;
                self.emit(Op::Pack { d, from, bits });
            }
            [d, a] => {
                let a = self.source(at, a, it.of)?;
                let (d, _) = self.destination(at, d)?;
                self.emit(Op::Copy { d, a });
            }
            operands => {
                let text = operands.first().map(ToString::to_string);
                return Err(WrongOperand(text.unwrap_or_default()));
            }
        }
        Ok(())
    }
}

/// The type of the product of two integers.
fn twice_as_wide(of: Type) -> Type {
    match of {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        _ => of,
    }
}

/// The type of a part of a word.
fn bits_of_width(bits: u32) -> Decoded<Type> {
    match bits {
        8 => Ok(Type::B8),
        16 => Ok(Type::B16),
        32 => Ok(Type::B32),
        _ => Err(Unsupported),
    }
}

/// The width of the parts of a word of at most 64 bits, which has two or four.
fn bits_of_parts(of: Type, parts: usize) -> Decoded<u32> {
    match (of.bits(), parts) {
        (Some(bits @ ..=64), 2 | 4) => Ok(bits / parts as u32),
        _ => Err(Unsupported),
    }
}

/// A function of two slots.
type Combination = fn(u64, u64) -> u64;

fn combination(how: CombinePredicate) -> Combination {
    match how {
        CombinePredicate::And => |a, b| a & b,
        CombinePredicate::Or => |a, b| a | b,
        CombinePredicate::Xor => |a, b| a ^ b,
    }
}

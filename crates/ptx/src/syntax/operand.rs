//! Operands.

use super::written::list;
use std::fmt;

/// An operand of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A register, a special register with its component, a variable, a label, or `_` for a result that is dropped.
    Name(Box<str>),
    /// A predicate, negated.
    Negated(Box<str>),
    /// A result and a predicate, `%r1|%p1`.
    Pair(Box<str>, Box<str>),
    /// An integer of at most 64 bits, signed or unsigned.
    Integer(i128),
    /// The bits of an f32.
    Single(u32),
    /// The bits of an f64.
    Double(u64),
    /// The address of a variable, and a distance from it in bytes.
    Offset(Box<str>, i64),
    /// Elements of a vector.
    Vector(Vec<Operand>),
    /// Arguments or results of a call.
    List(Vec<Operand>),
    /// Memory at a register or a variable, or at none, and a distance in bytes.
    Memory(Option<Box<str>>, i64),
    /// A box of a tensor: its description, and the coordinates.
    Tensor(Box<str>, Vec<Operand>),
}

impl fmt::Display for Operand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Negated(name) => write!(formatter, "!{name}"),
            Self::Pair(first, second) => write!(formatter, "{first}|{second}"),
            Self::Integer(value) => write!(formatter, "{value}"),
            Self::Single(bits) => write!(formatter, "0f{bits:08X}"),
            Self::Double(bits) => write!(formatter, "0d{bits:016X}"),
            Self::Offset(name, offset) => write!(formatter, "{name}+{offset}"),
            Self::Vector(elements) => bracketed(formatter, '{', elements, '}'),
            Self::List(elements) => bracketed(formatter, '(', elements, ')'),
            Self::Memory(Some(base), 0) => write!(formatter, "[{base}]"),
            Self::Memory(Some(base), offset) => write!(formatter, "[{base}+{offset}]"),
            Self::Memory(None, offset) => write!(formatter, "[{offset}]"),
            Self::Tensor(map, coordinates) => {
                write!(formatter, "[{map}, ")?;
                bracketed(formatter, '{', coordinates, '}')?;
                formatter.write_str("]")
            }
        }
    }
}

fn bracketed(
    formatter: &mut fmt::Formatter<'_>,
    open: char,
    elements: &[Operand],
    close: char,
) -> fmt::Result {
    write!(formatter, "{open}")?;
    list(formatter, elements)?;
    write!(formatter, "{close}")
}

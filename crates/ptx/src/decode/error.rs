//! The reasons why a kernel cannot be run.

use crate::error::shortened;
use std::fmt;
use thiserror::Error;

/// An instruction that cannot be run.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}: {kind}: `{instruction}`")]
pub struct DecodeError {
    /// The line, from 1.
    pub line: u32,
    /// The instruction.
    pub instruction: String,
    /// Its name and its modifiers.
    pub operation: String,
    /// Why it cannot be run.
    pub kind: DecodeErrorKind,
}

/// Why an instruction cannot be run.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// An instruction, or a combination of modifiers, that this crate does not run.
    #[error("not supported")]
    Unsupported,
    /// An operand of another kind than the instruction takes.
    #[error("the operand `{0}` has no meaning there")]
    Operand(String),
    /// A register, a variable or a function that is not declared.
    #[error("there is no `{0}`")]
    UnknownName(String),
    /// A variable whose size, alignment, type or initial value cannot be used.
    #[error(
        "the variable `{0}` has a size, an alignment, a type or an initial value that is not supported"
    )]
    Variable(String),
    /// A name that its scope already has.
    #[error("`{0}` is declared twice")]
    Twice(String),
    /// More registers and constants than a simulated thread can have.
    #[error("more than {most} registers and constants of a thread", most = super::layout::MOST_SLOTS)]
    TooManyRegisters,
    /// An argument or a result of a call whose size differs from the function's.
    #[error("`{name}` has {found} bytes, not {expected} as the function says")]
    Size {
        /// The argument or the result.
        name: String,
        /// Its bytes.
        found: usize,
        /// The size in the function's declaration.
        expected: usize,
    },
}

impl DecodeErrorKind {
    /// With the beginnings of long names.
    pub(super) fn shortened(self) -> Self {
        match self {
            Self::Operand(text) => Self::Operand(shortened(&text)),
            Self::UnknownName(name) => Self::UnknownName(shortened(&name)),
            Self::Variable(name) => Self::Variable(shortened(&name)),
            Self::Twice(name) => Self::Twice(shortened(&name)),
            other => other,
        }
    }
}

/// A kernel that cannot be run.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub struct ProgramError {
    /// The kernel's name.
    pub kernel: String,
    /// The errors, at least one.
    pub errors: Vec<DecodeError>,
}

impl fmt::Display for ProgramError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "kernel `{}` cannot be run", self.kernel)?;
        let shown = 10;
        for error in self.errors.iter().take(shown) {
            write!(formatter, "\n  {error}")?;
        }
        match self.errors.len().saturating_sub(shown) {
            0 => Ok(()),
            more => write!(formatter, "\n  and {more} more"),
        }
    }
}

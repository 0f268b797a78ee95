//! Errors of texts.

use thiserror::Error;

/// A text that is not PTX, with the line of the error.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}: {kind}: `{text}`")]
pub struct ReadError {
    /// The line, from 1.
    pub line: u32,
    /// The line's text, without blanks around it; the beginning, if it is long.
    pub text: String,
    /// The error.
    pub kind: ReadErrorKind,
}

/// An error in a line.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// A character that begins no token.
    #[error("the character {0:?} begins nothing")]
    Character(char),
    /// A comment or a string without an end.
    #[error("{0} without an end")]
    Unterminated(&'static str),
    /// Digits that are not a 64-bit number.
    #[error("{0:?} is no number of 64 bits")]
    Number(String),
    /// A constant expression that has no value.
    #[error("a constant expression with {0}")]
    Constant(&'static str),
    /// A token other than the required one.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// The required token.
        expected: &'static str,
        /// The token that does.
        found: String,
    },
    /// A directive that is unknown, or not allowed at this place.
    #[error("the directive {0:?} does not belong here")]
    Directive(String),
    /// Brackets nested more deeply than PTX needs.
    #[error("more than {0} brackets within each other")]
    Nesting(usize),
    /// An instruction with another number of operands than it takes.
    #[error("`{operation}` with {found} operands")]
    Operands {
        /// The instruction's name with its modifiers.
        operation: String,
        /// The number of its operands.
        found: usize,
    },
}

/// The most characters of the text in a message.
const SHOWN: usize = 200;

/// The beginning of a text, for a message.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

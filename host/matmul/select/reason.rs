//! Why a product uses the tiles that it uses.

use std::fmt::{self, Display, Formatter};

/// Why a product uses the tiles that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectionReason {
    /// There are no others.
    OnlyTiles,
    /// One of the operands is a vector.
    Vector,
    /// The result has few rows or few columns.
    FewLines,
    /// The result is small: most of a tile of the others would lie outside of it.
    SmallResult,
    /// The result is so small that K is divided, for more blocks.
    InParts {
        /// Parts, of equal length but for the last, which has what is left.
        parts: usize,
    },
    /// The device computes as many tiles at a time as it has room for; of f32 on the ordinary units, one for each
    /// multiprocessor.
    Rounds {
        /// Rounds of small tiles.
        small: u64,
        /// Of medium ones, if the method has them.
        medium: Option<u64>,
        /// Rounds of large ones.
        large: u64,
    },
    /// The caller requested them.
    Requested,
    /// The result has enough large blocks for each multiprocessor.
    EnoughBlocks {
        /// Large blocks of the result; `None` if they are more than a grid can have.
        blocks: Option<u32>,
        /// The fewest for which the large tiles are selected.
        needed: u32,
    },
    /// Much of the large tiles of a batch would lie outside of its results.
    EmptyTiles {
        /// Outputs of all large tiles, with those outside.
        large: u64,
        /// The same of small ones.
        small: u64,
    },
    /// The result would not fill the device with large blocks.
    TooFewBlocks {
        /// Large blocks of the result.
        blocks: u32,
        /// The fewest for which the large tiles are selected.
        needed: u32,
    },
}

impl Display for SelectionReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OnlyTiles => write!(f, "the method has one size of tiles"),
            Self::Vector => write!(f, "one of the operands is a vector"),
            Self::FewLines => write!(f, "the result has few rows or columns"),
            Self::SmallResult => write!(f, "the result is small"),
            Self::InParts { parts } => {
                write!(f, "the result is small, so K is divided into {parts} parts")
            }
            Self::Requested => write!(f, "it was requested"),
            Self::Rounds {
                small,
                medium: None,
                large,
            } => write!(
                f,
                "the result is {large} round(s) of large tiles, or {small} of small ones"
            ),
            Self::Rounds {
                small,
                medium: Some(medium),
                large,
            } => write!(
                f,
                "the result is {large} round(s) of large tiles, {medium} of medium ones, or {small} of small ones"
            ),
            Self::EnoughBlocks {
                blocks: Some(blocks),
                needed,
            } => write!(
                f,
                "{blocks} large blocks fill the device, which takes {needed}"
            ),
            Self::EnoughBlocks {
                blocks: None,
                needed,
            } => write!(
                f,
                "more large blocks than a grid can have fill the device, which takes {needed}"
            ),
            Self::EmptyTiles { large, small } => write!(
                f,
                "large tiles would have {large} outputs, with those outside of the result, and small ones have {small}"
            ),
            Self::TooFewBlocks { blocks, needed } => write!(
                f,
                "{blocks} large blocks do not fill the device, which takes {needed}"
            ),
        }
    }
}

//! Why a product uses its tile size.

use crate::error::counted;
use std::fmt::{self, Display, Formatter};

/// Why a product uses its kernel and tile size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectionReason {
    /// This kind of kernel has only one tile size.
    OnlyTiles,
    /// One of the operands is a vector.
    Vector,
    /// The result is skinny: it has few rows or few columns.
    Skinny,
    /// The result is small: larger tiles would lie mostly outside it.
    SmallResult,
    /// The result is so small that K is split, so that more blocks have work.
    InParts {
        /// The number of parts. They have equal lengths, except for the last, which has the rest.
        parts: usize,
    },
    /// The estimated time in rounds of tiles is the shortest.
    ///
    /// In a round, the device computes as many tiles as it can hold at once. For f32 on CUDA cores, for medium and large
    /// tiles of f64 on tensor cores, and on devices of other compute capabilities than 9.0, it is one tile for each
    /// multiprocessor.
    Rounds {
        /// Rounds of small tiles.
        small: u64,
        /// Rounds of medium tiles, if the method has them.
        medium: Option<u64>,
        /// Rounds of large tiles.
        large: u64,
    },
    /// The estimated time in rounds of tiles of 144 x 128 outputs, which compute the transpose, is the shortest.
    Turned {
        /// Rounds of these tiles.
        rounds: u64,
    },
    /// The caller chose the tile size.
    Requested,
    /// The result has enough large blocks for each multiprocessor.
    EnoughBlocks {
        /// Large blocks of the result; `None` if they are more than a grid can have.
        blocks: Option<u32>,
        /// The fewest large blocks for which large tiles are selected.
        needed: u32,
    },
    /// Much of a batch's large tiles would lie outside its results.
    EmptyTiles {
        /// Outputs of all large tiles, including those outside the results.
        large: u64,
        /// Outputs of all small tiles, including those outside the results.
        small: u64,
    },
    /// The result has too few large blocks to fill the device.
    TooFewBlocks {
        /// Large blocks of the result.
        blocks: u32,
        /// The fewest large blocks for which large tiles are selected.
        needed: u32,
    },
}

impl Display for SelectionReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OnlyTiles => write!(f, "the only tile size of this kind of kernel"),
            Self::Vector => write!(f, "one operand is a vector"),
            Self::Skinny => write!(f, "the result has few rows or few columns"),
            Self::SmallResult => {
                write!(
                    f,
                    "the result is small, and larger tiles would lie mostly outside of it"
                )
            }
            Self::InParts { parts } => write!(
                f,
                "the result is small, so K is divided into {parts} parts, which different blocks compute"
            ),
            Self::Requested => write!(f, "the caller chose the tile size"),
            Self::Rounds {
                small,
                medium,
                large,
            } => {
                let small = counted(small, "round", "rounds");
                let medium = match medium {
                    Some(medium) => format!("{medium} of medium, "),
                    None => String::new(),
                };
                write!(
                    f,
                    "the tile size with the shortest estimated time ({small} of small tiles, {medium}{large} of large)"
                )
            }
            Self::Turned { rounds } => write!(
                f,
                "the tile size with the shortest estimated time ({} of the transpose)",
                counted(rounds, "round", "rounds")
            ),
            Self::EnoughBlocks {
                blocks: Some(blocks),
                needed,
            } => write!(
                f,
                "large tiles, because they are {}, and it takes {needed} to fill the device",
                counted(blocks, "block", "blocks")
            ),
            Self::EnoughBlocks {
                blocks: None,
                needed,
            } => write!(
                f,
                "large tiles, because they are more blocks than a grid can have, and it takes {needed} to fill the device"
            ),
            Self::EmptyTiles { large, small } => write!(
                f,
                "small tiles, because large ones would compute {large} outputs instead of {small}, most of the \
                 difference outside of the results"
            ),
            Self::TooFewBlocks { blocks, needed } => write!(
                f,
                "small tiles, because large ones would be {}, and it takes {needed} to fill the device",
                counted(blocks, "block", "blocks")
            ),
        }
    }
}

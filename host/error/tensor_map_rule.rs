//! The rules of the hardware for tensor maps.

use super::words;
use std::fmt;

/// A rule of the hardware for tensor maps that a matrix breaks (CUDA Driver API, `cuTensorMapEncodeTiled`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorMapRule {
    /// The matrix has no elements.
    Empty,
    /// An element does not have 1, 2, 4 or 8 bytes.
    Element {
        /// Bytes of an element.
        bytes: u32,
    },
    /// The address of the first element is not a multiple of 16 bytes.
    Address {
        /// The bytes past the last multiple of 16.
        past: u64,
    },
    /// The distance between rows in memory is not a multiple of 16 bytes.
    RowStride {
        /// The distance in bytes.
        bytes: u64,
    },
    /// The distance between rows in memory is 2^40 bytes or more.
    LongRows {
        /// The distance in bytes.
        bytes: u64,
    },
    /// The matrix has more than 2^32 rows or columns.
    Extent {
        /// Rows and columns.
        shape: (usize, usize),
    },
}

impl fmt::Display for TensorMapRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(formatter, "it has no elements"),
            Self::Element { bytes } => write!(
                formatter,
                "its elements have {bytes} bytes, and must have 1, 2, 4 or 8"
            ),
            Self::Address { past } => write!(
                formatter,
                "its first element is {} past a multiple of 16 bytes, and must be at one; start the view elsewhere, or copy it",
                words::bytes(*past)
            ),
            Self::RowStride { bytes } => write!(
                formatter,
                "its rows are {} apart, and must be a multiple of 16 bytes apart; pad them",
                words::bytes(*bytes)
            ),
            Self::LongRows { bytes } => write!(
                formatter,
                "its rows are {bytes} bytes apart, and must be less than 2^40 bytes apart"
            ),
            Self::Extent {
                shape: (rows, columns),
            } => write!(
                formatter,
                "it is {rows}x{columns}, and can have at most 2^32 rows and 2^32 columns"
            ),
        }
    }
}

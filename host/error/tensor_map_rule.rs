//! The rules of the hardware for tensor maps.

use std::fmt;

/// What the hardware asks of a tensor map and a matrix does not have (CUDA Driver API,
/// `cuTensorMapEncodeTiled`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorMapRule {
    /// The matrix has no elements.
    Empty,
    /// An element has another number of bytes than 1, 2, 4 or 8.
    Element {
        /// Bytes of an element.
        bytes: u32,
    },
    /// The address of the first element is not a multiple of 16 bytes.
    Address {
        /// The bytes past the last such multiple.
        past: u64,
    },
    /// The distance of two rows in memory is not a multiple of 16 bytes.
    RowStride {
        /// The distance in bytes.
        bytes: u64,
    },
    /// The distance of two rows in memory is 2^40 bytes or more.
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
            Self::Empty => write!(formatter, "the matrix must have elements"),
            Self::Element { bytes } => write!(
                formatter,
                "an element must have 1, 2, 4 or 8 bytes; it has {bytes}"
            ),
            Self::Address { past } => write!(
                formatter,
                "the first element must lie at a multiple of 16 bytes; it is {past} bytes past one"
            ),
            Self::RowStride { bytes } => write!(
                formatter,
                "rows must begin at multiples of 16 bytes; they are {bytes} bytes apart, so pad them"
            ),
            Self::LongRows { bytes } => write!(
                formatter,
                "rows must be less than 2^40 bytes apart; they are {bytes}"
            ),
            Self::Extent {
                shape: (rows, columns),
            } => write!(
                formatter,
                "at most 2^32 rows and columns are possible; the matrix has {rows}x{columns}"
            ),
        }
    }
}

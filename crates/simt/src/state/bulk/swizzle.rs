//! Swizzled layouts of tiles in shared memory.

use crate::basics::named;

named! {
    /// The swizzle of a tile: the 16-byte chunks of its rows are permuted by bits of their address, so
    /// that a column of chunks lies in all banks (PTX ISA, "Tensor Swizzling Modes").
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Swizzle {
        /// No swizzle.
        #[default]
        None = "no swizzle",
        /// Rows of 32 bytes: bit 4 of the address is changed by bit 7.
        B32 = "the 32-byte swizzle",
        /// Rows of 64 bytes: bits 4 and 5 are changed by bits 7 and 8.
        B64 = "the 64-byte swizzle",
        /// Rows of 128 bytes: bits 4 to 6 are changed by bits 7 to 9.
        B128 = "the 128-byte swizzle",
    }
}

impl Swizzle {
    /// The offset of the byte that is at `offset` without the swizzle. Both count from an address
    /// that is a multiple of 1024.
    #[inline]
    #[must_use]
    pub const fn apply(self, offset: usize) -> usize {
        let chunks = match self {
            Self::None => 0,
            Self::B32 => 1,
            Self::B64 => 3,
            Self::B128 => 7,
        };
        offset ^ ((offset >> 7 & chunks) << 4)
    }

    /// The bytes of a row; none where rows have any length.
    #[must_use]
    pub const fn row_bytes(self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::B32 => Some(32),
            Self::B64 => Some(64),
            Self::B128 => Some(128),
        }
    }

    /// The bytes after which the pattern repeats, and to which a tile is aligned.
    #[must_use]
    pub const fn period(self) -> usize {
        match self {
            Self::None => 16,
            Self::B32 => 256,
            Self::B64 => 512,
            Self::B128 => 1024,
        }
    }

    pub(super) const fn number(self) -> u32 {
        self as u32
    }

    pub(super) fn of_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    /// The mode of bits 62 and 63 of a matrix descriptor.
    pub(crate) const fn of_descriptor(bits: u64) -> Self {
        match bits & 3 {
            1 => Self::B128,
            2 => Self::B64,
            3 => Self::B32,
            _ => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Swizzle;

    #[test]
    fn rows_of_one_column_have_different_chunks() {
        for (swizzle, chunks) in [(Swizzle::B32, 2), (Swizzle::B64, 4), (Swizzle::B128, 8)] {
            let row = swizzle.row_bytes().unwrap();
            let banks: std::collections::BTreeSet<usize> = (0..8)
                .map(|index| swizzle.apply(index * row) % 128 / 16)
                .collect();
            assert_eq!(banks.len(), 8, "{swizzle:?}");
            assert_eq!(row / 16, chunks);
            for offset in 0..4096 {
                assert_eq!(swizzle.apply(swizzle.apply(offset)), offset);
            }
        }
    }
}

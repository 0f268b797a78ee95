//! How blocks share an operand's lines if one pass splits them.

use super::part::STEP;
use super::shape::{SPLIT_LINES, SplitShape};

/// Blocks of a cluster. Each has a part of every line.
pub const CLUSTER: usize = 8;

/// The longest lines for which one block keeps [`SPLIT_LINES`] of them.
const MOST_OF_ALL: usize = 512;

/// Lines that one block keeps if they are longer.
pub const FEW_LINES: usize = 8;

/// The longest lines for which one block keeps [`FEW_LINES`] of them.
///
/// Time to split both operands on an H200, in us:
///
/// | n of n x n operands | by single blocks | by clusters |
/// |---|---|---|
/// | 1024 | 8.4 | 9.7 |
/// | 1536 | 12.2 | 16.2 |
/// | 2048 | 27.1 | 27.0 |
///
/// The blocks of a cluster do not all start at once, and wait for one another.
const MOST_OF_FEW: usize = 1536;

/// The most steps of a line for which a block has shared memory.
const MOST_STEPS: usize = 13;

/// How blocks share lines that one pass splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// Blocks that share each line: a cluster, or one.
    pub blocks: usize,
    /// Lines that they share.
    pub lines: usize,
}

impl Sharing {
    /// One block has `lines` lines.
    const fn block(lines: usize) -> Self {
        Self { blocks: 1, lines }
    }
}

impl SplitShape {
    /// The longest lines that a cluster keeps.
    pub const MOST_AT_ONCE: usize = CLUSTER * MOST_STEPS * STEP;

    /// How blocks share the lines if one pass splits them.
    ///
    /// It selects [`split_in_block`](super::split_in_block), [`split_few_in_block`](super::split_few_in_block) or
    /// [`split_in_cluster`](super::split_in_cluster).
    #[must_use]
    pub const fn sharing(&self) -> Sharing {
        if self.k <= MOST_OF_ALL {
            Sharing::block(SPLIT_LINES)
        } else if self.k <= MOST_OF_FEW {
            Sharing::block(FEW_LINES)
        } else {
            Sharing {
                blocks: CLUSTER,
                lines: SPLIT_LINES,
            }
        }
    }

    /// Elements of each line in one of `blocks` blocks, a multiple of [`STEP`].
    #[inline(always)]
    pub(super) const fn block_depth(&self, blocks: usize) -> usize {
        self.k.div_ceil(blocks * STEP) * STEP
    }

    /// Blocks that split one matrix in one pass.
    #[inline(always)]
    #[must_use]
    pub const fn at_once_blocks(&self, sharing: Sharing) -> usize {
        self.lines.div_ceil(sharing.lines) * sharing.blocks
    }

    /// Bytes of dynamic shared memory of each block.
    #[must_use]
    pub const fn at_once_bytes(&self, sharing: Sharing) -> usize {
        sharing.lines * self.block_depth(sharing.blocks) * size_of::<f32>()
    }
}

//! The sizes of an operand, and how it is divided among blocks.

use bytemuck::{Pod, Zeroable};

/// Threads of a block of the kernels here.
pub const SPLIT_THREADS: u32 = 256;

/// Warps of one.
pub const WARPS: usize = SPLIT_THREADS as usize / 32;

/// Lines of a block that scans.
pub const SCAN_LINES: usize = 32;

/// Elements of each line that a block scans.
pub const SCAN_DEPTH: usize = 256;

/// Lines of a block that splits.
pub const SPLIT_LINES: usize = 32;

/// Elements of each line that a block splits.
pub const SPLIT_DEPTH: usize = 128;

/// Halves at whose multiples a line of them starts: 16 bytes, for bulk copies and for those of threads.
pub const SPLIT_ALIGNMENT: usize = 8;

/// An operand of one or more products as the kernels here have it, beside its elements.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct SplitShape {
    /// Its matrices; 0 where there is nothing to split.
    pub matrices: usize,
    /// Elements from a matrix to the next.
    pub stride: usize,
    /// Lines of each.
    pub lines: usize,
    /// Elements of each.
    pub k: usize,
    /// Elements from a line to the next where lines are contiguous, else from an element of a line to
    /// its next.
    pub leading_dimension: usize,
    /// Elements from a line of halves to the next: at least `k`, and a multiple of [`SPLIT_ALIGNMENT`].
    pub pitch: usize,
    /// The exponent below which an element of a scaled line makes it wide: that of
    /// [`lowest_exponent`](super::lowest_exponent).
    pub lowest: i32,
    /// 1 where lines are contiguous.
    pub is_along: u32,
}

impl SplitShape {
    /// No operand.
    pub const NONE: Self = Self {
        matrices: 0,
        stride: 0,
        lines: 0,
        k: 0,
        leading_dimension: 0,
        pitch: 0,
        lowest: 0,
        is_along: 1,
    };

    /// Blocks that find the extremes of a matrix's lines.
    #[inline(always)]
    #[must_use]
    pub const fn scan_blocks(&self) -> usize {
        self.lines.div_ceil(SCAN_LINES) * self.k.div_ceil(SCAN_DEPTH)
    }

    /// Blocks that split a matrix.
    #[inline(always)]
    #[must_use]
    pub const fn split_blocks(&self) -> usize {
        self.lines.div_ceil(SPLIT_LINES) * self.k.div_ceil(SPLIT_DEPTH)
    }
}

//! The sizes of an operand, and how blocks share it.

use bytemuck::{Pod, Zeroable};

/// Threads of a block.
pub const SPLIT_THREADS: u32 = 256;

/// Warps of a block.
pub const WARPS: usize = SPLIT_THREADS as usize / 32;

/// Lines that a block scans.
pub const SCAN_LINES: usize = 32;

/// Elements of each line that a block scans.
pub const SCAN_DEPTH: usize = 256;

/// Lines that a block splits.
pub const SPLIT_LINES: usize = 32;

/// Elements of each line that a block splits.
pub const SPLIT_DEPTH: usize = 128;

/// The alignment of a line of halves, in elements: 16 bytes, for bulk copies and for threads' copies.
pub const SPLIT_ALIGNMENT: usize = 8;

/// An operand of one or more products: everything but its elements.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct SplitShape {
    /// Its matrices; 0 if there is nothing to split.
    pub matrices: usize,
    /// Elements from one matrix to the next.
    pub stride: usize,
    /// Lines of each matrix.
    pub lines: usize,
    /// Elements of each line.
    pub k: usize,
    /// Elements from one line to the next if lines are contiguous, otherwise from one element of a line to the next.
    pub leading_dimension: usize,
    /// Elements from one line of halves to the next: at least `k`, and a multiple of [`SPLIT_ALIGNMENT`].
    pub pitch: usize,
    /// The exponent below which an element puts a scaled line outside the split's range:
    /// [`lowest_exponent`](super::lowest_exponent).
    pub lowest: i32,
    /// 1 if lines are contiguous, otherwise 0.
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

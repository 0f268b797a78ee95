//! The sizes of an operand, and its division among blocks.

use bytemuck::{Pod, Zeroable};

/// Threads per block of the split's kernels.
pub const SPLIT_THREADS: u32 = 256;

/// Warps per block.
pub const WARPS: usize = SPLIT_THREADS as usize / 32;

/// Lines of a block that scans.
pub const SCAN_LINES: usize = 32;

/// Elements of each line that a block scans.
pub const SCAN_DEPTH: usize = 256;

/// Lines of a block that splits.
pub const SPLIT_LINES: usize = 32;

/// Elements of each line that a block splits.
pub const SPLIT_DEPTH: usize = 128;

/// A line of halves starts at a multiple of this many elements: 16 bytes, as bulk and asynchronous copies need.
pub const SPLIT_ALIGNMENT: usize = 8;

/// The sizes of an operand of one or more products, as a parameter of the kernels that split it.
///
/// # Requirements of the kernels
/// A launch of any of these kernels meets the following:
///
/// 1. Blocks have [`SPLIT_THREADS`] threads. The grid has, along x, the kernel's number of blocks for each matrix of A,
///    then for each matrix of B.
/// 2. `a` and `b` begin with the first element of the operand of their shape, and end with the last. The launch reads
///    only elements of the operands.
/// 3. `a_words` and `b_words` have the words of [`RangeWords`](super::RangeWords) for each matrix. Only the launch
///    accesses them.
/// 4. `a_halves` and `b_halves`, if the kernel has them, start at multiples of 16 bytes, and have twice as many lines
///    as the matrices of the operand together, `pitch` elements each. Only the launch accesses them.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct SplitShape {
    /// Matrices of the operand; 0 if there is nothing to split.
    pub matrices: usize,
    /// Elements from one matrix to the next.
    pub stride: usize,
    /// Lines of each matrix.
    pub lines: usize,
    /// Elements of each line.
    pub k: usize,
    /// Elements from one line to the next if lines are contiguous, otherwise from one element of a line to its next.
    pub leading_dimension: usize,
    /// Elements from one line of halves to the next: at least `k`, and a multiple of [`SPLIT_ALIGNMENT`].
    pub pitch: usize,
    /// The lowest exponent of an element of a scaled line within the split's range:
    /// [`lowest_exponent`](super::lowest_exponent).
    pub lowest: i32,
    /// 1 if lines are contiguous, otherwise 0.
    pub is_along: u32,
}

impl SplitShape {
    /// The shape of no operand.
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

    /// Blocks that find the extremes of one matrix's lines.
    #[inline(always)]
    #[must_use]
    pub const fn scan_blocks(&self) -> usize {
        self.lines.div_ceil(SCAN_LINES) * self.k.div_ceil(SCAN_DEPTH)
    }

    /// Blocks that split one matrix.
    #[inline(always)]
    #[must_use]
    pub const fn split_blocks(&self) -> usize {
        self.lines.div_ceil(SPLIT_LINES) * self.k.div_ceil(SPLIT_DEPTH)
    }
}

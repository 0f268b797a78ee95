//! The shape of a selection, and the memory of a block.

use bytemuck::{Pod, Zeroable};
use cuda_std::prelude::*;

/// Elements that are selected, at most.
pub const MOST_SELECTED: usize = 2048;

/// Threads per block.
pub const TOP_K_THREADS: u32 = 256;

/// Elements of a chunk, at most: their places have two digits.
pub const MOST_OF_CHUNK: usize = 1 << 16;

/// Values of a digit: one for each thread.
pub const DIGITS: usize = TOP_K_THREADS as usize;

/// Bits of a digit.
pub const DIGIT_BITS: u32 = 8;

/// Digits of a place in a chunk.
pub const PLACE_DIGITS: u32 = 2;

/// Elements that a thread loads before it uses the first.
pub const IN_FLIGHT: usize = 8;

/// Warps of a block, of 32 lanes.
pub const WARPS: usize = DIGITS / 32;

/// The kernels' parameter for the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct TopKShape {
    /// Rows of the matrix.
    pub rows: usize,
    /// Elements of a row.
    pub len: usize,
    /// Elements from one row to the next.
    pub apart: usize,
    /// Elements of a chunk: at least `selected`, at most [`MOST_OF_CHUNK`].
    pub chunk: usize,
    /// Elements to select of each chunk, at most [`MOST_SELECTED`].
    pub selected: usize,
}

impl TopKShape {
    /// Chunks of a row.
    #[inline(always)]
    #[must_use]
    pub const fn chunks(&self) -> usize {
        self.len.div_ceil(self.chunk)
    }

    /// Elements that are selected of a row: of the last chunk at most all.
    #[inline(always)]
    #[must_use]
    pub const fn selected_of_row(&self) -> usize {
        let last = self.len - (self.chunks() - 1) * self.chunk;
        let of_last = if last < self.selected {
            last
        } else {
            self.selected
        };
        (self.chunks() - 1) * self.selected + of_last
    }
}

/// The shared memory of a block.
pub struct Shared<'block, R> {
    /// How many keys have each value of a digit.
    pub counts: SharedArray<'block, u32, DIGITS>,
    /// The counts of each warp's threads.
    pub of_warps: SharedArray<'block, u32, WARPS>,
    /// The threshold's digit, the number wanted of it, the number that has it, and the number collected.
    pub state: SharedArray<'block, u32, 4>,
    /// The ranks of the collected elements.
    pub ranks: SharedArray<'block, R, MOST_SELECTED>,
    /// Their places in the chunk.
    pub places: SharedArray<'block, u32, MOST_SELECTED>,
}

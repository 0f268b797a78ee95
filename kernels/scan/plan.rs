//! The split of a scan, which determines the order of addition.
//!
//! ```text
//! a tile:   32 KiB; each of 4 warps has 16 rows of 32 vectors of 16 bytes, one after another
//! a group:  32 tiles
//! a span:   32 groups
//! ```
//!
//! It depends only on the number of elements and their size. A row of a matrix has the split of a buffer of its
//! length. Where rows are short, a block has several: one for each warp, or for each row of its vectors.

use super::value::ScanValue;
use crate::reduce::Reduction;
use bytemuck::{Pod, Zeroable};

/// Threads per block.
pub const SCAN_THREADS: u32 = 128;

/// Vectors per thread. All are loaded before the first is used.
///
/// They are kept in shared memory, not in registers: a multiprocessor of compute capability 9.0 has shared memory for
/// the tiles of six blocks.
pub const ROWS: usize = 16;

/// Threads in a row, for any warp width.
pub const ROW_THREADS: u32 = 32;

/// Parts of a tile, one for each warp of 32 lanes.
pub const WARPS: usize = (SCAN_THREADS / ROW_THREADS) as usize;

/// Sums of parts that a block keeps in shared memory: of its warps, or of its lines.
pub const PARTS: usize = 16;

/// Lines of a warp, if the elements of neighbouring lines lie one after another and a line has several rows of vectors.
const LINES_ACROSS: usize = PARTS / WARPS;

/// The number of sums that precede a tile: of its group, its span, and all before.
pub const BEFORE: usize = 3;

/// Tiles in a group, and groups in a span. One row of threads waits for the sums of the group's tiles, another for
/// the sums of the groups before, with one request each.
pub const FAN: usize = ROW_THREADS as usize;

/// Tiles in a span. A span has one prefix, for which the scan waits on memory. Between two prefixes, blocks read and
/// write 64 MiB.
pub const SPAN_TILES: usize = FAN * FAN;

/// Words before the tiles' words in the state: a cache line, whose first word is the ticket.
pub const TICKET_WORDS: usize = 16;

/// Bytes of one vector.
const VECTOR_BYTES: usize = 16;

/// Bytes of an element in one word of the state.
const HALF_BYTES: usize = 4;

/// One scan's split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanPlan {
    /// Elements of a tile.
    pub tile: usize,
    /// Tiles, and blocks to launch.
    pub tiles: usize,
    /// 64-bit words for a sum.
    pub words: usize,
    /// Elements of a vector.
    lanes: usize,
    /// Rows of a matrix that a block has, if they are as long.
    pub rows_of_block: usize,
}

/// The kernels' parameter for the lines to scan. A buffer is one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ScanShape {
    /// The number of lines.
    pub rows: usize,
    /// Elements of a line.
    pub len: usize,
    /// Elements from one line to the next, of the operand; or from one element of a line to the next, if the elements
    /// of neighbouring lines lie one after another.
    pub x_apart: usize,
    /// The same, of the results.
    pub y_apart: usize,
    /// 1 if results do not include their own elements, otherwise 0.
    pub is_exclusive: u32,
    /// 1 if there is an initial value, otherwise 0.
    pub has_initial: u32,
    /// 1 if the elements of neighbouring lines lie one after another, 0 if those of a line do.
    pub is_across: u32,
    /// 0: the struct's size is a multiple of its alignment.
    pub padding: u32,
}

impl ScanPlan {
    /// The split of `elements` elements of `element_bytes` bytes, whose sums are as large.
    #[inline(always)]
    #[must_use]
    pub const fn new(elements: usize, element_bytes: usize) -> Self {
        Self::with_words(elements, element_bytes, element_bytes.div_ceil(HALF_BYTES))
    }

    /// The split of `elements` elements of `element_bytes` bytes, 1 to 16, with `words` words for a sum.
    #[inline(always)]
    #[must_use]
    pub const fn with_words(elements: usize, element_bytes: usize, words: usize) -> Self {
        let lanes = VECTOR_BYTES / element_bytes;
        let vectors = ROW_THREADS as usize * lanes;
        let tile = WARPS * ROWS * vectors;
        Self {
            tile,
            tiles: elements.div_ceil(tile),
            words,
            lanes,
            rows_of_block: if elements <= vectors {
                WARPS * ROWS
            } else if elements <= ROWS * vectors {
                WARPS
            } else {
                1
            },
        }
    }

    /// The split of `elements` elements for an operation.
    #[inline(always)]
    #[must_use]
    pub const fn of<R: Reduction<T, Accumulator: ScanValue>, T: Pod>(elements: usize) -> Self {
        let words = <R::Accumulator as ScanValue>::WORDS;
        Self::with_words(elements, size_of::<T>(), words)
    }

    /// Lines of a block, if the elements of neighbouring lines lie one after another.
    #[inline(always)]
    #[must_use]
    pub const fn lines_across(&self) -> usize {
        if self.rows_of_block > WARPS {
            WARPS * ROWS
        } else {
            WARPS * LINES_ACROSS
        }
    }

    /// Blocks of a launch for `lines` lines of one length.
    #[must_use]
    pub const fn blocks(&self, lines: usize, is_across: bool) -> usize {
        if is_across {
            lines
                .div_ceil(self.lines_across())
                .saturating_mul(self.tiles)
        } else {
            lines
                .saturating_mul(self.tiles)
                .div_ceil(self.rows_of_block)
        }
    }

    /// The largest number of elements of a line that needs no block of its own.
    #[must_use]
    pub const fn most_of_warp(element_bytes: usize) -> usize {
        ROWS * ROW_THREADS as usize * (VECTOR_BYTES / element_bytes)
    }

    /// Groups of tiles.
    #[inline(always)]
    #[must_use]
    pub const fn groups(&self) -> usize {
        self.tiles.div_ceil(FAN)
    }

    /// Spans of groups.
    #[inline(always)]
    #[must_use]
    pub const fn spans(&self) -> usize {
        self.tiles.div_ceil(SPAN_TILES)
    }

    /// The first word of the groups' sums in the state.
    #[inline(always)]
    #[must_use]
    pub const fn first_group_word(&self) -> usize {
        TICKET_WORDS + self.tiles * self.words
    }

    /// The first word of the spans' prefixes in the state.
    #[inline(always)]
    #[must_use]
    pub const fn first_span_word(&self) -> usize {
        self.first_group_word() + self.groups() * self.words
    }

    /// 64-bit words that the blocks share, all 0 when the launch starts. None for one tile.
    #[must_use]
    pub const fn state_words(&self) -> usize {
        if self.tiles > 1 {
            self.first_span_word() + self.spans() * self.words
        } else {
            0
        }
    }

    /// Additions on the longest path from an element to a sum: the h of the error bound
    /// |s' - s| <= gamma_h * sum |x| (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
    #[must_use]
    pub const fn height(&self) -> u32 {
        let in_vector = self.lanes - 1;
        let in_row = ROW_THREADS.ilog2() as usize;
        let to_the_prefix = if self.tiles > 1 {
            // Over the tiles of a group plus the last one, over the groups of a span plus the last one, from span to
            // span, and the span plus the group and the tile.
            2 * (FAN.ilog2() as usize + 1) + self.spans() + 1
        } else {
            0
        };
        // The last three are tile plus warp, warp plus row, row plus element.
        (in_vector + in_row + ROWS + WARPS + to_the_prefix + 3) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_has_room_for_every_tile_group_and_span() {
        let plan = ScanPlan::new(1 << 28, 4);
        assert_eq!((plan.tile, plan.tiles), (8192, 32_768));
        assert_eq!((plan.groups(), plan.spans()), (1024, 32));
        assert_eq!(plan.state_words(), TICKET_WORDS + 32_768 + 1024 + 32);
        let plan = ScanPlan::new(4097, 8);
        assert_eq!((plan.tiles, plan.groups(), plan.spans()), (2, 1, 1));
        assert_eq!(plan.state_words(), TICKET_WORDS + 8);
        assert_eq!(ScanPlan::new(4096, 8).state_words(), 0);
        assert_eq!(ScanPlan::new(0, 8).tiles, 0);
    }
}

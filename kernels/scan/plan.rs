//! How a scan is split, and so the order in which it adds.
//!
//! ```text
//! a tile:   32 KiB; each of 4 warps has 16 rows of 32 vectors of 16 bytes, one after another
//! a group:  32 tiles
//! a span:   32 groups
//! ```
//!
//! The split depends on the number of elements and the size of one alone.

/// Threads of a block.
pub const SCAN_THREADS: u32 = 128;

/// Vectors of a thread, all of which are on the way before the first is used.
///
/// They lie in shared memory, not in registers: a multiprocessor of compute capability 9.0 has room for
/// the tiles of six blocks.
pub const ROWS: usize = 16;

/// Threads of a row, whatever the width of a warp.
pub const ROW_THREADS: u32 = 32;

/// Parts of a tile, of a warp each.
pub const WARPS: usize = (SCAN_THREADS / ROW_THREADS) as usize;

/// Tiles of a group, and groups of a span. The threads of one row wait for the sums of a tile's group, those
/// of another for the sums of the groups before, in one request each.
pub const FAN: usize = ROW_THREADS as usize;

/// Tiles of a span: what a prefix stands for, and so how often the scan waits for one number to come
/// through memory. Blocks read and write 64 MiB between two of them.
pub const SPAN_TILES: usize = FAN * FAN;

/// Words in front of the tiles' in the state, the first of which is the ticket: a line of the cache.
pub const TICKET_WORDS: usize = 16;

/// Bytes of one vector.
const VECTOR_BYTES: usize = 16;

/// Bytes of an element for which the state has a word.
const HALF_BYTES: usize = 4;

/// One scan's split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanPlan {
    /// Elements of a tile.
    pub tile: usize,
    /// Tiles, and blocks to launch.
    pub tiles: usize,
    /// Words of 64 bits for a sum.
    pub words: usize,
    /// Elements of a vector.
    lanes: usize,
}

impl ScanPlan {
    /// The split of `elements` elements of `element_bytes` bytes each, 4 or 8.
    #[inline(always)]
    #[must_use]
    pub const fn new(elements: usize, element_bytes: usize) -> Self {
        let lanes = VECTOR_BYTES / element_bytes;
        let tile = SCAN_THREADS as usize * ROWS * lanes;
        Self {
            tile,
            tiles: elements.div_ceil(tile),
            words: element_bytes / HALF_BYTES,
            lanes,
        }
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

    /// Where the sums of the groups start in the state.
    #[inline(always)]
    #[must_use]
    pub const fn first_group_word(&self) -> usize {
        TICKET_WORDS + self.tiles * self.words
    }

    /// Where the prefixes of the spans start in the state.
    #[inline(always)]
    #[must_use]
    pub const fn first_span_word(&self) -> usize {
        self.first_group_word() + self.groups() * self.words
    }

    /// Words of 64 bits that the blocks share, all 0 when the launch starts: none for one tile.
    #[must_use]
    pub const fn state_words(&self) -> usize {
        if self.tiles > 1 {
            self.first_span_word() + self.spans() * self.words
        } else {
            0
        }
    }

    /// The most additions between an element and a sum that it is part of: the h of the error bound
    /// |s' - s| <= gamma_h * sum |x| (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
    #[must_use]
    pub const fn height(&self) -> u32 {
        let in_vector = self.lanes - 1;
        let in_row = ROW_THREADS.ilog2() as usize;
        let to_the_prefix = if self.tiles > 1 {
            // Over the tiles of a group and its last one, the groups of a span and its last one, from span to
            // span, and from a span to a group and to a tile of it.
            2 * (FAN.ilog2() as usize + 1) + self.spans() + 1
        } else {
            0
        };
        // The last three: tile and warp, warp and row, row and element.
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

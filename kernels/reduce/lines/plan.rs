//! How a line is split, and so the tree in which it is combined.
//!
//! ```text
//! a part:   element e belongs to strand e mod 128; a strand takes its elements in order
//!           the 128 strands are combined as neighbours, then as neighbours of pairs, and so on
//! a line:   part p belongs to strand p mod 32; a strand takes its parts in order
//!           the 32 strands are combined the same way
//! ```
//!
//! The split depends on the length of a line alone.

/// Threads of a block.
pub const LINE_THREADS: u32 = 256;

/// Sequences in which the elements of a part are combined.
pub const STRANDS: usize = 128;

/// Strands of a thread where lines are contiguous: elements of the vector that it loads.
pub const STRANDS_OF_LANE: usize = 4;

/// Threads of a part where lines are contiguous, and sequences in which the parts of a line are
/// combined.
pub const LANES_OF_PART: u32 = 32;

/// Threads of a segment of at most [`STRANDS`] elements.
pub const SEGMENT_LANES: u32 = 8;

/// The bits of a listed part's number in its segment.
const PART_BITS: u32 = 10;

/// A part of a segment as an element of the list of parts.
#[inline(always)]
#[must_use]
pub const fn list_part(segment: usize, part: usize) -> u64 {
    ((segment as u64) << PART_BITS) | part as u64
}

/// The segment and the part of an element of the list of parts.
#[inline(always)]
#[must_use]
pub const fn listed_part(listed: u64) -> (usize, usize) {
    (
        (listed >> PART_BITS) as usize,
        (listed & ((1 << PART_BITS) - 1)) as usize,
    )
}

/// Lines that a thread loads at once where a line is one vector of each thread.
pub const LINES_IN_FLIGHT: usize = 4;

/// Lines that the threads of a warp load where lines are not contiguous: one for each lane.
pub const ACROSS_LINES: u32 = 32;

/// Strands of a thread where lines are not contiguous.
pub const STRANDS_ACROSS: usize = STRANDS * ACROSS_LINES as usize / LINE_THREADS as usize;

/// Elements of a part: in short lines, and in lines of up to [`MOST_PARTS`] of them.
const SHORT_PART: usize = 1024;
const PART: usize = 4096;

/// The longest of the short lines, which are worth more blocks.
const SHORT_LINE: usize = 8192;

/// The most parts of a line.
const MOST_PARTS: usize = 1 << PART_BITS;

/// One line's split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePlan {
    /// Elements of the line.
    pub elements: usize,
    /// Elements of a part, but for the last: a power of two, and a multiple of [`STRANDS`].
    pub part: usize,
    /// Parts, one at least.
    pub parts: usize,
}

impl LinePlan {
    /// The split of a line of `elements` elements.
    #[inline(always)]
    #[must_use]
    pub const fn new(elements: usize) -> Self {
        let part = if elements <= SHORT_LINE {
            SHORT_PART
        } else if elements <= PART * MOST_PARTS {
            PART
        } else {
            elements.div_ceil(MOST_PARTS).next_power_of_two()
        };
        // A power of two: a shift instead of a division.
        let parts = (elements >> part.trailing_zeros()) + !elements.is_multiple_of(part) as usize;
        Self {
            elements,
            part,
            parts: if parts == 0 { 1 } else { parts },
        }
    }

    /// Threads of a line that is not contiguous: those that have an element, as a power of two.
    #[inline(always)]
    #[must_use]
    pub const fn threads_across(&self) -> u32 {
        if self.elements > STRANDS / 2 {
            return (STRANDS / STRANDS_ACROSS) as u32;
        }
        let threads = self.elements.div_ceil(STRANDS_ACROSS) as u32;
        threads.next_power_of_two()
    }

    /// Lines of a block where lines are not contiguous.
    #[inline(always)]
    #[must_use]
    pub const fn lines_of_block_across(&self) -> usize {
        (LINE_THREADS / self.threads_across()) as usize
    }

    /// Combinations on the longest path from an element to the value of the line.
    #[must_use]
    pub const fn tree_height(&self) -> u32 {
        let longest = if self.parts > 1 {
            self.part
        } else {
            self.elements
        };
        let in_part = longest.div_ceil(STRANDS) as u32 + STRANDS.ilog2();
        let lanes = LANES_OF_PART as usize;
        let over_parts = if self.parts > 1 {
            self.parts.div_ceil(lanes) as u32 + lanes.ilog2()
        } else {
            0
        };
        in_part + over_parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_line_and_are_not_too_many() {
        for elements in [
            0,
            1,
            1024,
            1025,
            8192,
            8193,
            1 << 20,
            (1 << 22) + 1,
            1 << 33,
        ] {
            let plan = LinePlan::new(elements);
            assert!(plan.parts * plan.part >= elements);
            assert!((plan.parts - 1) * plan.part <= elements);
            assert!((1..=MOST_PARTS).contains(&plan.parts));
            assert!(plan.part.is_multiple_of(4 * STRANDS));
        }
    }

    #[test]
    fn a_block_across_has_a_thread_for_each_sixteenth_element_of_its_lines() {
        for (elements, threads) in [
            (0, 1),
            (1, 1),
            (16, 1),
            (17, 2),
            (33, 4),
            (64, 4),
            (65, 8),
            (128, 8),
            (1 << 33, 8),
        ] {
            let plan = LinePlan::new(elements);
            assert_eq!(plan.threads_across(), threads, "{elements}");
            assert_eq!(plan.lines_of_block_across(), 256 / threads as usize);
        }
    }

    #[test]
    fn the_tree_is_low() {
        assert_eq!(LinePlan::new(128).tree_height(), 8);
        assert_eq!(LinePlan::new(16_384).tree_height(), 32 + 7 + 1 + 5);
        assert!(LinePlan::new(1 << 22).tree_height() <= 80);
    }
}

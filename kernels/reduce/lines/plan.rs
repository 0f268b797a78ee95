//! The split of a line, which determines the tree in which it is combined.
//!
//! ```text
//! a part:     element e of it belongs to accumulator e mod 128; an accumulator takes its elements in order
//!             the 128 accumulators are combined as neighbours, then as neighbours of pairs, and so on
//! a section:  dealt out to its parts, 512 elements at each turn
//!             the parts are combined the same way
//! a line:     sections one after another; section s belongs to accumulator s mod 32 of the line
//!             an accumulator takes its sections in order, and the accumulators are combined the same way
//! ```
//!
//! It depends only on the line's length.

/// Threads per block.
pub const LINE_THREADS: u32 = 256;

/// Interleaved accumulators of a part: element i goes to accumulator i modulo this number.
pub const ACCUMULATORS: usize = 128;

/// Elements of a part per turn: four for each accumulator.
pub const TURN: usize = 4 * ACCUMULATORS;

/// Accumulators per thread for contiguous lines: the elements of the vector that it loads.
pub const LANE_ACCUMULATORS: usize = 4;

/// Threads per part for contiguous lines, and interleaved accumulators for the sections of a line.
pub const LANES_OF_PART: u32 = 32;

/// Maximum parts per section: those of one block's threads.
pub const MOST_PARTS: usize = (LINE_THREADS / LANES_OF_PART) as usize;

/// Maximum units of work per section for lines that are not contiguous. Each unit has the same
/// number of parts.
///
/// With lines of up to 2^24 elements, a unit of two parts is 4096 elements of a section.
pub const MOST_UNITS: usize = 4;

/// Threads per segment of at most [`ACCUMULATORS`] elements.
pub const SEGMENT_LANES: u32 = 8;

/// Bits of a listed section's number within its segment.
const SECTION_BITS: u32 = 10;

/// Encodes a section of a segment for the list of parts.
#[inline(always)]
#[must_use]
pub const fn list_section(segment: usize, section: usize) -> u64 {
    ((segment as u64) << SECTION_BITS) | section as u64
}

/// Decodes the segment and the section from the list of parts.
#[inline(always)]
#[must_use]
pub const fn listed_section(listed: u64) -> (usize, usize) {
    (
        (listed >> SECTION_BITS) as usize,
        (listed & ((1 << SECTION_BITS) - 1)) as usize,
    )
}

/// Lines that a thread loads at once, if a line is one vector for each thread.
pub const LINES_IN_FLIGHT: usize = 4;

/// Lines per warp for lines that are not contiguous: one for each lane.
pub const ACROSS_LINES: u32 = 32;

/// Accumulators per thread for lines that are not contiguous.
pub const ACROSS_ACCUMULATORS: usize = ACCUMULATORS * ACROSS_LINES as usize / LINE_THREADS as usize;

/// Elements per section, in lines of up to [`MOST_SECTIONS`] sections: 64 KiB of f32, which is four rounds of four
/// 16-byte loads for each thread of a block.
const SECTION: usize = 16_384;

/// Maximum sections per line.
const MOST_SECTIONS: usize = 1 << SECTION_BITS;

/// Elements of a line that justify another part.
const WORTH_A_PART: usize = 2 * TURN;

const _: () = assert!(
    MOST_PARTS == 8,
    "a line has at most three times twice as many parts"
);

/// One line's split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePlan {
    /// Elements of the line.
    pub elements: usize,
    /// Elements per section, except for the last: a power of two, and a multiple of [`TURN`] times
    /// [`MOST_PARTS`].
    pub section: usize,
    /// Sections, at least one.
    pub sections: usize,
    /// Parts of each section: a power of two up to [`MOST_PARTS`]. With several sections it is
    /// [`MOST_PARTS`].
    pub parts: usize,
}

/// The turns of a part: runs of [`TURN`] elements of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// The start of the first turn.
    pub first: usize,
    /// Elements from the start of one turn to the next.
    pub step: usize,
    /// The end of the section, and so of the part.
    pub end: usize,
}

impl LinePlan {
    /// The split of a line of `elements` elements.
    #[inline(always)]
    #[must_use]
    pub const fn new(elements: usize) -> Self {
        let section = if elements <= SECTION * MOST_SECTIONS {
            SECTION
        } else {
            elements.div_ceil(MOST_SECTIONS).next_power_of_two()
        };
        // A power of two: a shift instead of a division.
        let sections =
            (elements >> section.trailing_zeros()) + !elements.is_multiple_of(section) as usize;
        // 1, 2, 4 or 8: sums of comparisons instead of a loop.
        let doublings = (elements > WORTH_A_PART) as u32
            + (elements > 2 * WORTH_A_PART) as u32
            + (elements > 4 * WORTH_A_PART) as u32;
        Self {
            elements,
            section,
            sections: if sections == 0 { 1 } else { sections },
            parts: 1 << doublings,
        }
    }

    /// The turns of a part of a section.
    #[inline(always)]
    #[must_use]
    pub const fn turns(&self, section: usize, part: usize) -> Turns {
        let (start, next) = (section * self.section, (section + 1) * self.section);
        Turns {
            first: start + part * TURN,
            step: self.parts * TURN,
            end: if next < self.elements {
                next
            } else {
                self.elements
            },
        }
    }

    /// Units of work per section for lines that are not contiguous. Each has the same number of
    /// parts.
    #[inline(always)]
    #[must_use]
    pub const fn units_across(&self) -> usize {
        if self.parts < MOST_UNITS {
            self.parts
        } else {
            MOST_UNITS
        }
    }

    /// Threads per line that is not contiguous: those that have an element, rounded to a power of
    /// two.
    #[inline(always)]
    #[must_use]
    pub const fn threads_across(&self) -> u32 {
        if self.elements > ACCUMULATORS / 2 {
            return (ACCUMULATORS / ACROSS_ACCUMULATORS) as u32;
        }
        let threads = self.elements.div_ceil(ACROSS_ACCUMULATORS) as u32;
        threads.next_power_of_two()
    }

    /// Lines per block for lines that are not contiguous.
    #[inline(always)]
    #[must_use]
    pub const fn lines_of_block_across(&self) -> usize {
        (LINE_THREADS / self.threads_across()) as usize
    }

    /// Combinations on the longest path from an element to the value of the line.
    #[must_use]
    pub const fn tree_height(&self) -> u32 {
        let longest = if self.sections > 1 {
            self.section
        } else {
            self.elements
        };
        // The first part has the most elements: whole rounds of all parts, and the rest up to a
        // turn.
        let (round_of_all, rest) = (TURN * self.parts, longest % (TURN * self.parts));
        let in_rest = if rest < TURN { rest } else { TURN };
        let in_strand =
            longest / round_of_all * (TURN / ACCUMULATORS) + in_rest.div_ceil(ACCUMULATORS);
        let in_section = in_strand as u32 + ACCUMULATORS.ilog2() + self.parts.ilog2();
        let lanes = LANES_OF_PART as usize;
        let over_sections = if self.sections > 1 {
            self.sections.div_ceil(lanes) as u32 + lanes.ilog2()
        } else {
            0
        };
        in_section + over_sections
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_cover_the_line_and_are_not_too_many() {
        for elements in [
            0,
            1,
            1024,
            1025,
            16_384,
            16_385,
            1 << 20,
            1 << 24,
            (1 << 24) + 1,
            1 << 33,
        ] {
            let plan = LinePlan::new(elements);
            assert!(plan.sections * plan.section >= elements);
            assert!((plan.sections - 1) * plan.section <= elements);
            assert!((1..=MOST_SECTIONS).contains(&plan.sections));
            assert!(plan.section.is_multiple_of(TURN * MOST_PARTS));
            assert!(plan.sections == 1 || plan.parts == MOST_PARTS);
        }
    }

    #[test]
    fn the_turns_of_the_parts_are_the_line() {
        for elements in [0, 1, 1000, 1025, 2049, 5000, 16_384, 16_385, 40_000] {
            let plan = LinePlan::new(elements);
            let mut taken = [0_u8; 40_000];
            for (section, part) in
                (0..plan.sections).flat_map(|it| (0..plan.parts).map(move |part| (it, part)))
            {
                let turns = plan.turns(section, part);
                for turn in (turns.first..turns.end).step_by(turns.step) {
                    for element in &mut taken[turn..turns.end.min(turn + TURN)] {
                        *element += 1;
                    }
                }
            }
            assert!(taken[..elements].iter().all(|it| *it == 1), "{elements}");
        }
    }

    #[test]
    fn lines_have_a_part_for_each_two_turns() {
        for (elements, parts, units) in [
            (0, 1, 1),
            (1024, 1, 1),
            (1025, 2, 2),
            (2048, 2, 2),
            (2049, 4, 4),
            (4096, 4, 4),
            (4097, 8, 4),
            (1 << 33, 8, 4),
        ] {
            let plan = LinePlan::new(elements);
            assert_eq!(
                (plan.parts, plan.units_across()),
                (parts, units),
                "{elements}"
            );
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
        assert_eq!(LinePlan::new(1024).tree_height(), 8 + 7);
        assert_eq!(LinePlan::new(1025).tree_height(), 5 + 7 + 1);
        assert_eq!(LinePlan::new(5000).tree_height(), 8 + 7 + 3);
        assert_eq!(LinePlan::new(16_384).tree_height(), 16 + 7 + 3);
        assert_eq!(LinePlan::new(1 << 22).tree_height(), 16 + 7 + 3 + 8 + 5);
    }
}

//! How a line is split, and so the tree in which it is combined.
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
//! The split depends on the length of a line alone.

/// Threads of a block.
pub const LINE_THREADS: u32 = 256;

/// Sequences in which the elements of a part are combined.
pub const STRANDS: usize = 128;

/// Elements that a part takes at each of its turns: four for each accumulator.
pub const TURN: usize = 4 * STRANDS;

/// Accumulators of a thread where lines are contiguous: elements of the vector that it loads.
pub const STRANDS_OF_LANE: usize = 4;

/// Threads of a part where lines are contiguous, and sequences in which the sections of a line are
/// combined.
pub const LANES_OF_PART: u32 = 32;

/// The most parts of a section: those of the threads of a block.
pub const MOST_PARTS: usize = (LINE_THREADS / LANES_OF_PART) as usize;

/// The most units of work that a section is where lines are not contiguous, each of as many parts.
///
/// A unit of two parts is 4096 elements of a section in lines of up to 2^24.
pub const MOST_UNITS: usize = 4;

/// Threads of a segment of at most [`STRANDS`] elements.
pub const SEGMENT_LANES: u32 = 8;

/// The bits of a listed section's number in its segment.
const SECTION_BITS: u32 = 10;

/// A section of a segment as an element of the list of parts.
#[inline(always)]
#[must_use]
pub const fn list_section(segment: usize, section: usize) -> u64 {
    ((segment as u64) << SECTION_BITS) | section as u64
}

/// The segment and the section of an element of the list of parts.
#[inline(always)]
#[must_use]
pub const fn listed_section(listed: u64) -> (usize, usize) {
    (
        (listed >> SECTION_BITS) as usize,
        (listed & ((1 << SECTION_BITS) - 1)) as usize,
    )
}

/// Lines that a thread loads at once where a line is one vector of each thread.
pub const LINES_IN_FLIGHT: usize = 4;

/// Lines that the threads of a warp load where lines are not contiguous: one for each lane.
pub const ACROSS_LINES: u32 = 32;

/// Accumulators of a thread where lines are not contiguous.
pub const STRANDS_ACROSS: usize = STRANDS * ACROSS_LINES as usize / LINE_THREADS as usize;

/// Elements of a section, in lines of up to [`MOST_SECTIONS`] of them: 64 KiB of f32, four loads of 16
/// bytes for each thread of a block, four times.
const SECTION: usize = 16_384;

/// The most sections of a line.
const MOST_SECTIONS: usize = 1 << SECTION_BITS;

/// Elements for each of which a line has a part.
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
    /// Elements of a section, but for the last: a power of two, and a multiple of [`TURN`] times
    /// [`MOST_PARTS`].
    pub section: usize,
    /// Sections, one at least.
    pub sections: usize,
    /// Parts of each section: a power of two up to [`MOST_PARTS`], which it is if there are several
    /// sections.
    pub parts: usize,
}

/// The turns of a part, each of [`TURN`] elements of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// Where the first one starts.
    pub first: usize,
    /// Elements from the start of one to that of the next.
    pub step: usize,
    /// The end of the section: elements from there on are not the part's.
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

    /// Units of work of a section where lines are not contiguous, each of as many parts.
    #[inline(always)]
    #[must_use]
    pub const fn units_across(&self) -> usize {
        if self.parts < MOST_UNITS {
            self.parts
        } else {
            MOST_UNITS
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
        let longest = if self.sections > 1 {
            self.section
        } else {
            self.elements
        };
        // The first part has the most elements: whole rounds of all, and what is left up to a turn.
        let (round_of_all, rest) = (TURN * self.parts, longest % (TURN * self.parts));
        let in_rest = if rest < TURN { rest } else { TURN };
        let in_strand = longest / round_of_all * (TURN / STRANDS) + in_rest.div_ceil(STRANDS);
        let in_section = in_strand as u32 + STRANDS.ilog2() + self.parts.ilog2();
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

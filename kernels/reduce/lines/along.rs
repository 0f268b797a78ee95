//! Lines that are contiguous: a group of lanes for each line, or for each part of one.
//!
//! ```text
//! each lane:   combine the elements of its four accumulators, a vector at a time
//! each group:  combine the lanes' accumulators by shuffles
//! each block:  combine the accumulators of the parts of each section, in shared memory
//!              lines of several sections: write the section's; take the line's ticket
//! last block:  combine the accumulators of the line's sections
//! ```
//!
//! Departures from the plain version, for speed:
//! 1. Where a line is at most one vector of each lane, a group has no more lanes than that takes, a
//!    power of two, and loads the vectors of four lines before it combines. Otherwise a group is 32
//!    lanes, and loads four vectors of its part.
//! 2. A section of eight parts is a block, whose groups take turns: 256 threads load what lies one after
//!    another.
//! 3. A group that is the last of its line combines the sections: there is no second launch.
//!
//! Every lane of a warp takes part in every shuffle, whatever its group has to do: warps may have 64
//! lanes.

use super::combine::{combine_lanes, combine_neighbours, combine_quad};
use super::plan::{
    LANES_OF_PART, LINE_THREADS, LINES_IN_FLIGHT, LinePlan, STRANDS, STRANDS_OF_LANE, TURN, Turns,
};
use super::sections::{PartScratch, Section, combine_parts, share_section};
use super::source::Source;
use super::views::{LineWorkspace, Lines};
use crate::reduce::operation::Reduction;
use cuda_std::array;
use cuda_std::hint;
use cuda_std::prelude::*;

/// Vectors of a part that a lane loads before it combines: those of a turn.
const IN_FLIGHT: usize = TURN / STRANDS;

/// # Safety
/// 1. The launch has blocks of `LINE_THREADS` threads along x.
/// 2. `lines.source` has all elements of the lines.
/// 3. The tickets, one for each line, are 0, and the launch has the workspace for itself.
///    `workspace.partials` has an element for each section of each line. Both may be empty where lines
///    have one section. `workspace.values` has an element for each line.
/// 4. `lanes` is a power of two up to 32, and `4 * lanes` at least the smaller of `lines.len` and 128.
/// 5. `scratch` is the block's own.
#[inline(always)]
pub unsafe fn reduce_along<R: Reduction<X::Element>, X: Source, const VECTOR: usize>(
    lines: Lines<X>,
    lanes: u32,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
    scratch: PartScratch<R::Accumulator>,
) {
    // SAFETY: (1) to (5) are the caller's.
    unsafe {
        if lines.len <= STRANDS {
            reduce_short::<R, X, VECTOR>(lines, lanes, workspace.values);
        } else {
            reduce_sections::<R, X, VECTOR>(lines, workspace, scratch);
        }
    }
}

/// Lines of at most a vector for each lane.
///
/// # Safety
/// As for [`reduce_along`].
#[inline(always)]
unsafe fn reduce_short<R: Reduction<X::Element>, X: Source, const VECTOR: usize>(
    lines: Lines<X>,
    lanes: u32,
    values: GlobalMut<R::Output>,
) {
    let thread = thread::thread_idx_x();
    let (groups, group) = (LINE_THREADS / lanes, thread / lanes);
    let first = thread::block_idx_x() as usize * (groups as usize * LINES_IN_FLIGHT);
    let offset = (thread % lanes) as usize * STRANDS_OF_LANE;
    let is_aligned = lines.source.is_aligned::<VECTOR>();
    let here = lines.len.saturating_sub(offset).min(STRANDS_OF_LANE);

    let line_of = |number: usize| first + number * groups as usize + group as usize;
    let quads: [[X::Element; STRANDS_OF_LANE]; LINES_IN_FLIGHT] = array::from_fn(|number| {
        let line = line_of(number);
        let count = if line < lines.count { here } else { 0 };
        let of_line = lines.source.moved_by(line, 0);
        // SAFETY: (1) the line has them, by (2). (2) `is_aligned` says so.
        unsafe { of_line.quad::<VECTOR>(offset, count, is_aligned) }
    });
    let mut number = 0;
    while number < LINES_IN_FLIGHT {
        let mut strands = [R::IDENTITY; STRANDS_OF_LANE];
        combine_quad::<R, X::Element>(&mut strands, &quads[number], offset, here);
        let of_lane = combine_neighbours::<R, X::Element, STRANDS_OF_LANE>(strands);
        let total = combine_lanes::<R, X::Element>(of_lane, lanes);
        let line = line_of(number);
        if offset == 0 && line < lines.count {
            // SAFETY: (1) there is one for each line, by (3). (2) One lane of one group writes it.
            unsafe { values.store(line, R::finish(total, lines.len)) };
        }
        number += 1;
    }
}

/// Lines of one or several sections, whose parts are each of a group of 32 lanes.
///
/// # Safety
/// As for [`reduce_along`].
#[inline(always)]
unsafe fn reduce_sections<R: Reduction<X::Element>, X: Source, const VECTOR: usize>(
    lines: Lines<X>,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
    scratch: PartScratch<R::Accumulator>,
) {
    let plan = LinePlan::new(lines.len);
    let own = OwnPart::of(plan);
    let is_there = own.line < lines.count;
    let source = lines.source.moved_by(own.line, 0);
    let turns = plan.turns(own.section, own.part);
    // SAFETY: (1) the line has the turns, if it is there, by (2).
    let mut of_section = unsafe { reduce_part::<R, X, VECTOR>(source, turns, is_there) };

    // Computed again: the loop needs the registers that would hold it.
    let plan = LinePlan::new(hint::opaque_size(lines.len));
    let own = OwnPart::of(plan);
    if plan.parts > 1 {
        // SAFETY: (1) the number of parts is the same for all threads. (2) `reduce_part` says so. (3) is (5).
        of_section = unsafe { combine_parts::<R, X::Element>(of_section, plan.parts, scratch) };
    }
    let section = Section {
        line: own.line,
        number: own.section,
        first: own.line * plan.sections,
        ticket: own.line,
        plan,
        is_own: own.part == 0 && own.line < lines.count,
    };
    // SAFETY: (1) no lane has returned. (2) is (3); the line has the section.
    unsafe { share_section::<R, X::Element>(of_section, section, workspace) };
}

/// What the calling group of 32 lanes has of lines of one length.
struct OwnPart {
    line: usize,
    section: usize,
    part: usize,
}

impl OwnPart {
    /// The groups have the parts of the sections of the lines in order.
    #[inline(always)]
    fn of(plan: LinePlan) -> Self {
        let groups = (LINE_THREADS / LANES_OF_PART) as usize;
        let group = (thread::thread_idx_x() / LANES_OF_PART) as usize;
        let group = thread::block_idx_x() as usize * groups + group;
        // A power of two: a shift instead of a division.
        let (section, part) = (
            group >> plan.parts.trailing_zeros(),
            group & (plan.parts - 1),
        );
        if plan.sections == 1 {
            return Self {
                line: section,
                section: 0,
                part,
            };
        }
        Self {
            line: section / plan.sections,
            section: section % plan.sections,
            part,
        }
    }
}

/// The accumulator of a part of the line that starts `source`, in the lanes of its group; the identity unless
/// `is_there`.
///
/// # Safety
/// 1. If `is_there`, `source` has all elements of the turns.
#[inline(always)]
pub(super) unsafe fn reduce_part<R: Reduction<X::Element>, X: Source, const VECTOR: usize>(
    source: X,
    turns: Turns,
    is_there: bool,
) -> R::Accumulator {
    let is_aligned = source.is_aligned::<VECTOR>();
    let lane = (thread::thread_idx_x() % LANES_OF_PART) as usize;
    let end = if is_there { turns.end } else { 0 };
    let mut strands = [R::IDENTITY; STRANDS_OF_LANE];
    let mut turn = turns.first;
    while turn + TURN <= end {
        let first = turn + lane * STRANDS_OF_LANE;
        let own = source.moved_by(0, first);
        let quads: [[X::Element; STRANDS_OF_LANE]; IN_FLIGHT] = array::from_fn(|number| {
            // SAFETY: (1) the turn ends within the line, by (1). (2) `is_aligned` says so.
            unsafe { own.quad::<VECTOR>(number * STRANDS, STRANDS_OF_LANE, is_aligned) }
        });
        let mut number = 0;
        while number < IN_FLIGHT {
            let at = first + number * STRANDS;
            combine_quad::<R, X::Element>(&mut strands, &quads[number], at, STRANDS_OF_LANE);
            number += 1;
        }
        turn += turns.step;
    }
    let mut round = turn;
    while round < end {
        let first = round + lane * STRANDS_OF_LANE;
        let here = end.saturating_sub(first).min(STRANDS_OF_LANE);
        // SAFETY: (1) the line has them, by (1). (2) `is_aligned` says so.
        let quad = unsafe { source.quad::<VECTOR>(first, here, is_aligned) };
        combine_quad::<R, X::Element>(&mut strands, &quad, first, here);
        round += STRANDS;
    }
    let of_lane = combine_neighbours::<R, X::Element, STRANDS_OF_LANE>(strands);
    combine_lanes::<R, X::Element>(of_lane, LANES_OF_PART)
}

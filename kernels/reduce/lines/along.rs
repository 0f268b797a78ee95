//! Contiguous lines: a group of lanes for each line, or for each part of one.
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
//! 1. If a line is at most one vector for each lane, a group has only as many lanes as needed, a power of two, and
//!    loads the vectors of four lines before it combines. Otherwise a group is 32 lanes, and loads four vectors of
//!    its part.
//! 2. A section of eight parts is one block, whose groups take turns: its 256 threads load contiguous elements.
//! 3. The last group of a line combines the sections, so there is no second launch.
//!
//! Every lane of a warp takes part in every shuffle, even if its group has no work, because warps may have 64 lanes.

use super::combine::{combine_lanes, combine_neighbours, combine_quad};
use super::plan::{
    ACCUMULATORS, LANE_ACCUMULATORS, LANES_OF_PART, LINE_THREADS, LINES_IN_FLIGHT, LinePlan, TURN,
    Turns,
};
use super::sections::{PartScratch, Section, combine_parts, share_section};
use super::source::Source;
use super::views::{LineWorkspace, Lines};
use crate::reduce::operation::Reduction;
use cuda_std::array;
use cuda_std::hint;
use cuda_std::prelude::*;

/// Vectors of a part that a lane loads before it combines: one turn.
const IN_FLIGHT: usize = TURN / ACCUMULATORS;

/// # Safety
/// 1. The launch has blocks of `LINE_THREADS` threads along x.
/// 2. `lines.source` has all elements of the lines.
/// 3. The tickets, one for each line, are 0, and only this launch uses the workspace. `workspace.partials` has an
///    element for each section of each line. Both may be empty if lines have one section. `workspace.values` has an
///    element for each line.
/// 4. `lanes` is a power of two up to 32, and `4 * lanes` at least the smaller of `lines.len` and 128.
/// 5. Only this block uses `scratch`.
#[inline(always)]
pub unsafe fn reduce_along<R: Reduction<X::Element>, X: Source, const VECTOR: usize>(
    lines: Lines<X>,
    lanes: u32,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
    scratch: PartScratch<R::Accumulator>,
) {
    // SAFETY: the caller's contract.
    unsafe {
        if lines.len <= ACCUMULATORS {
            reduce_short::<R, X, VECTOR>(lines, lanes, workspace.values);
        } else {
            reduce_sections::<R, X, VECTOR>(lines, workspace, scratch);
        }
    }
}

/// Reduces lines of at most one vector for each lane.
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
    let offset = (thread % lanes) as usize * LANE_ACCUMULATORS;
    let is_aligned = lines.source.is_aligned::<VECTOR>();
    let here = lines.len.saturating_sub(offset).min(LANE_ACCUMULATORS);

    let line_of = |number: usize| first + number * groups as usize + group as usize;
    let count_of = |number: usize| {
        if line_of(number) < lines.count {
            here
        } else {
            0
        }
    };
    let quads: [[X::Element; LANE_ACCUMULATORS]; LINES_IN_FLIGHT] = array::from_fn(|number| {
        let of_line = lines.source.moved_by(line_of(number), 0);
        // SAFETY: the line has the elements: the caller's contract. Alignment was checked:
        // `is_aligned`.
        unsafe { of_line.quad::<VECTOR>(offset, count_of(number), is_aligned) }
    });
    let mut number = 0;
    while number < LINES_IN_FLIGHT {
        let mut accumulators = [R::IDENTITY; LANE_ACCUMULATORS];
        // The same number for all lines takes fewer comparisons.
        let count = if R::IS_TOTAL { here } else { count_of(number) };
        combine_quad::<R, X::Element>(&mut accumulators, &quads[number], offset, count);
        let of_lane = combine_neighbours::<R, X::Element, LANE_ACCUMULATORS>(accumulators);
        let total = combine_lanes::<R, X::Element>(of_lane, lanes);
        let line = line_of(number);
        if offset == 0 && line < lines.count {
            // SAFETY: `values` has an element for each line: the caller's contract. One lane of one
            // group writes it.
            unsafe { values.store(line, R::finish(total, lines.len)) };
        }
        number += 1;
    }
}

/// Reduces lines of one or several sections, with a group of 32 lanes for each part.
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
    // SAFETY: if the line exists, it has the turns: the caller's contract.
    let mut of_section = unsafe { reduce_part::<R, X, VECTOR>(source, turns, is_there) };

    // Recomputed, because the loop needs the registers.
    let plan = LinePlan::new(hint::opaque_size(lines.len));
    let own = OwnPart::of(plan);
    if plan.parts > 1 {
        // SAFETY: all threads have the same number of parts. `reduce_part` returns the result to the first lane. Only
        // this block uses the scratch: the caller's contract.
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
    // SAFETY: no lane has returned, and the line has the section. The workspace: the caller's
    // contract.
    unsafe { share_section::<R, X::Element>(of_section, section, workspace) };
}

/// The part of a line that the calling group of 32 lanes reduces, for lines of equal length.
struct OwnPart {
    line: usize,
    section: usize,
    part: usize,
}

impl OwnPart {
    /// Groups are assigned to parts of sections of lines, in order.
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

/// Reduces a part of the line at the start of `source`. The lanes of its group get the accumulator, or the identity
/// unless `is_there`.
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
    let mut accumulators = [R::IDENTITY; LANE_ACCUMULATORS];
    let mut turn = turns.first;
    while turn + TURN <= end {
        let first = turn + lane * LANE_ACCUMULATORS;
        let own = source.moved_by(0, first);
        let quads: [[X::Element; LANE_ACCUMULATORS]; IN_FLIGHT] = array::from_fn(|number| {
            // SAFETY: the turn ends within the line: the caller's contract. Alignment was checked:
            // `is_aligned`.
            unsafe { own.quad::<VECTOR>(number * ACCUMULATORS, LANE_ACCUMULATORS, is_aligned) }
        });
        let mut number = 0;
        while number < IN_FLIGHT {
            let at = first + number * ACCUMULATORS;
            combine_quad::<R, X::Element>(&mut accumulators, &quads[number], at, LANE_ACCUMULATORS);
            number += 1;
        }
        turn += turns.step;
    }
    let mut round = turn;
    while round < end {
        let first = round + lane * LANE_ACCUMULATORS;
        let here = end.saturating_sub(first).min(LANE_ACCUMULATORS);
        // SAFETY: the line has the elements: the caller's contract. Alignment was checked:
        // `is_aligned`.
        let quad = unsafe { source.quad::<VECTOR>(first, here, is_aligned) };
        combine_quad::<R, X::Element>(&mut accumulators, &quad, first, here);
        round += ACCUMULATORS;
    }
    let of_lane = combine_neighbours::<R, X::Element, LANE_ACCUMULATORS>(accumulators);
    combine_lanes::<R, X::Element>(of_lane, LANES_OF_PART)
}

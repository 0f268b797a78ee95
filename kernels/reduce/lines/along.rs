//! Lines that are contiguous: a group of lanes for each line, or for each part of one.
//!
//! ```text
//! each lane:   combine the elements of its four strands, a vector at a time
//! each group:  combine the lanes' accumulators by shuffles
//!              lines of several parts: write the part's; take the line's ticket
//! last group:  combine the accumulators of the line's parts the same way
//! ```
//!
//! Departures from the plain version, for speed:
//! 1. Where a line is at most one vector of each lane, a group has no more lanes than that takes, a
//!    power of two, and loads the vectors of four lines before it combines. Otherwise a group is 32
//!    lanes, and loads four vectors of its part.
//! 2. A group that is the last of its line combines the parts: there is no second launch.
//!
//! Every lane of a warp takes part in every shuffle, whatever its group has to do: warps may have 64
//! lanes.

use super::combine::{combine_lanes, combine_neighbours, combine_quad};
use super::plan::{
    LANES_OF_PART, LINE_THREADS, LINES_IN_FLIGHT, LinePlan, STRANDS, STRANDS_OF_LANE,
};
use super::source::Source;
use super::views::{LineWorkspace, Lines};
use crate::reduce::operation::Reduction;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::prelude::*;

/// Vectors of a part that a lane loads before it combines, and partial results.
const IN_FLIGHT: usize = 4;

/// # Safety
/// 1. The launch has blocks of `LINE_THREADS` threads along x.
/// 2. `lines.source` has all elements of the lines.
/// 3. The tickets, one for each line, are 0, and the launch has the workspace for itself.
///    `workspace.partials` has an element for each part of each line. Both may be empty where lines
///    have one part. `workspace.values` has an element for each line.
/// 4. `lanes` is a power of two up to 32, and `4 * lanes` at least the smaller of `lines.len` and 128.
#[inline(always)]
pub unsafe fn reduce_along<R: Reduction<X::Element>, X: Source, const VECTOR: usize>(
    lines: Lines<X>,
    lanes: u32,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
) {
    // SAFETY: (1) to (4) are the caller's.
    unsafe {
        if lines.len <= STRANDS {
            reduce_short::<R, X, VECTOR>(lines, lanes, workspace.values);
        } else {
            reduce_parts::<R, X, VECTOR>(lines, workspace);
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

/// Lines of one or several parts, each of a group of 32 lanes.
///
/// # Safety
/// As for [`reduce_along`].
#[inline(always)]
unsafe fn reduce_parts<R: Reduction<X::Element>, X: Source, const VECTOR: usize>(
    lines: Lines<X>,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
) {
    let plan = LinePlan::new(lines.len);
    let thread = thread::thread_idx_x();
    let groups = (LINE_THREADS / LANES_OF_PART) as usize;
    let unit = thread::block_idx_x() as usize * groups + (thread / LANES_OF_PART) as usize;
    let lane = thread % LANES_OF_PART;
    let (line, part) = (unit / plan.parts, unit % plan.parts);
    let has_part = line < lines.count;
    // SAFETY: (1) the line has the part, or the part is empty.
    let of_lane = unsafe { reduce_part::<R, X, VECTOR>(lines, plan, (line, part), lane, has_part) };
    let of_part = combine_lanes::<R, X::Element>(of_lane, LANES_OF_PART);
    if plan.parts == 1 {
        if has_part && lane == 0 {
            // SAFETY: (1) there is one for each line, by (3). (2) One lane of one group writes it.
            unsafe { workspace.values.store(line, R::finish(of_part, lines.len)) };
        }
        return;
    }
    let unit = Unit {
        line,
        part,
        first: line * plan.parts,
        ticket: line,
        plan,
    };
    // SAFETY: (1) is (1). (2) is (3); the line has the part.
    unsafe { share_part::<R, X::Element>(of_part, unit, has_part, workspace) };
}

/// A part of a line of several, as a group of 32 lanes has it.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    pub line: usize,
    pub part: usize,
    /// The partial result of the line's first part; those of the others follow.
    pub first: usize,
    /// The line's ticket.
    pub ticket: usize,
    /// The line's split.
    pub plan: LinePlan,
}

/// Writes a group's part, if it has one; the last group of a line combines all of its parts.
///
/// # Safety
/// 1. All lanes of the warp call it, those of a group with the same unit. `of_part` is right in the
///    group's first.
/// 2. If `has_part`, the workspace has the line's partial results, its ticket, which was 0, and its
///    value, and each part of the line is given once in the launch.
#[inline(always)]
pub(super) unsafe fn share_part<R: Reduction<T>, T: Pod>(
    of_part: R::Accumulator,
    unit: Unit,
    has_part: bool,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
) {
    let lane = thread::thread_idx_x() % LANES_OF_PART;
    let mut ticket = 0;
    if has_part && lane == 0 {
        // SAFETY: (1) of each access is (2). (2) A group writes its own partial result; tickets are
        // touched by atomics alone.
        unsafe {
            workspace.partials.store(unit.first + unit.part, of_part);
            thread::fence_device();
            ticket = workspace.tickets.atomic_add(unit.ticket, 1);
        }
    }
    ticket = warp::shuffle_width(LaneMask::all(), ticket, 0, LANES_OF_PART);
    warp::sync(LaneMask::all());
    let is_last = has_part && ticket as usize + 1 == unit.plan.parts;
    let mut of_lane = R::IDENTITY;
    if is_last {
        // The tickets that came before stand for partial results: what follows must see them.
        thread::fence_device();
        // SAFETY: (1) the line's partial results are written, as the tickets say.
        of_lane = unsafe {
            reduce_partials::<R, T>(workspace.partials, unit.first, unit.plan.parts, lane)
        };
    }
    let total = combine_lanes::<R, T>(of_lane, LANES_OF_PART);
    if is_last && lane == 0 {
        // SAFETY: (1) both have an element for the line, by (2). (2) All other groups of the line are
        // done with them.
        unsafe {
            let value = R::finish(total, unit.plan.elements);
            workspace.values.store(unit.line, value);
            workspace.tickets.atomic_store(unit.ticket, 0);
        }
    }
}

/// What a lane has of a part of a line; the identity unless `has_part`.
///
/// # Safety
/// 1. If `has_part`, the line is one of `lines`, which are all in `lines.source`.
#[inline(always)]
pub(super) unsafe fn reduce_part<R: Reduction<X::Element>, X: Source, const VECTOR: usize>(
    lines: Lines<X>,
    plan: LinePlan,
    (line, part): (usize, usize),
    lane: u32,
    has_part: bool,
) -> R::Accumulator {
    let is_aligned = lines.source.is_aligned::<VECTOR>();
    let of_line = lines.source.moved_by(line, 0);
    let end = if has_part {
        lines.len.min((part + 1) * plan.part)
    } else {
        0
    };
    let mut strands = [R::IDENTITY; STRANDS_OF_LANE];
    let mut round = part * plan.part;
    while round + IN_FLIGHT * STRANDS <= end {
        let first = round + lane as usize * STRANDS_OF_LANE;
        let own = of_line.moved_by(0, first);
        let quads: [[X::Element; STRANDS_OF_LANE]; IN_FLIGHT] = array::from_fn(|number| {
            // SAFETY: (1) the rounds end within the line, by (1). (2) `is_aligned` says so.
            unsafe { own.quad::<VECTOR>(number * STRANDS, STRANDS_OF_LANE, is_aligned) }
        });
        let mut number = 0;
        while number < IN_FLIGHT {
            let at = first + number * STRANDS;
            combine_quad::<R, X::Element>(&mut strands, &quads[number], at, STRANDS_OF_LANE);
            number += 1;
        }
        round += IN_FLIGHT * STRANDS;
    }
    while round < end {
        let first = round + lane as usize * STRANDS_OF_LANE;
        let here = end.saturating_sub(first).min(STRANDS_OF_LANE);
        // SAFETY: (1) the line has them, by (1). (2) `is_aligned` says so.
        let quad = unsafe { of_line.quad::<VECTOR>(first, here, is_aligned) };
        combine_quad::<R, X::Element>(&mut strands, &quad, first, here);
        round += STRANDS;
    }
    combine_neighbours::<R, X::Element, STRANDS_OF_LANE>(strands)
}

/// What a lane has of the `parts` of a line, whose partial results start at `first`.
///
/// # Safety
/// 1. `partials` has them, and they are visible to this thread.
#[inline(always)]
pub(crate) unsafe fn reduce_partials<R: Reduction<T>, T: Pod>(
    partials: GlobalMut<R::Accumulator>,
    first: usize,
    parts: usize,
    lane: u32,
) -> R::Accumulator {
    let stride = LANES_OF_PART as usize;
    let mut total = R::IDENTITY;
    let mut part = lane as usize;
    while part < parts {
        let loaded: [R::Accumulator; IN_FLIGHT] = array::from_fn(|number| {
            let at = part + number * stride;
            if at >= parts {
                return R::IDENTITY;
            }
            // SAFETY: (1) the line has the part, by (1). (2) It is written and visible, by (1).
            unsafe { partials.load(first + at) }
        });
        for value in &loaded {
            total = R::combine(total, *value);
        }
        part += stride * IN_FLIGHT;
    }
    total
}

//! From the parts of contiguous lines to the values of the lines.

use super::combine::combine_lanes;
use super::plan::{LANES_OF_PART, LinePlan, MOST_PARTS};
use super::views::LineWorkspace;
use crate::reduce::operation::Reduction;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::prelude::*;

/// Partial results that a lane loads before it combines.
const IN_FLIGHT: usize = 4;

/// An accumulator for each group of 32 lanes of a block.
pub type PartScratch<'block, A> = SharedArray<'block, A, MOST_PARTS>;

/// A section of a line, as the groups of its parts have it.
#[derive(Clone, Copy)]
pub struct Section {
    pub line: usize,
    /// Which of the line's sections.
    pub number: usize,
    /// The partial result of the line's first section; those of the others follow.
    pub first: usize,
    /// The line's ticket.
    pub ticket: usize,
    /// The line's split.
    pub plan: LinePlan,
    /// Whether the calling group is that of the section's first part, and there is such a section.
    pub is_own: bool,
}

/// Combines the parts of a section as neighbours, then as neighbours of pairs, and so on: the result is right
/// in the first lane of the group of the section's first part. The parts are those of as many groups of 32
/// lanes, one after another, the first of which is a multiple of their number.
///
/// # Safety
/// 1. All threads of a block call it, the groups of a section with the same number of parts, a power of two
///    up to [`MOST_PARTS`].
/// 2. `of_part` is right in the first lane of its group.
/// 3. `scratch` is the block's own, and for this alone.
#[inline(always)]
pub unsafe fn combine_parts<R: Reduction<T>, T: Pod>(
    of_part: R::Accumulator,
    parts: usize,
    scratch: PartScratch<R::Accumulator>,
) -> R::Accumulator {
    let thread = thread::thread_idx_x();
    let (group, lane) = (
        (thread / LANES_OF_PART) as usize,
        (thread % LANES_OF_PART) as usize,
    );
    if lane == 0 {
        // SAFETY: (1) there is an element for each group. (2) One lane of each writes it.
        unsafe { scratch.store(group, of_part) };
    }
    thread::sync_threads();
    let mut of_lane = R::IDENTITY;
    if lane < parts && group.is_multiple_of(parts) {
        // SAFETY: (1) a section's groups are all of one block, by (1). (2) The barrier above.
        of_lane = unsafe { scratch.load(group + lane) };
    }
    combine_lanes::<R, T>(of_lane, MOST_PARTS as u32)
}

/// Writes the value of a line of one section, or the partial result of a section of several: the last group
/// to do so combines those of all of the line's sections.
///
/// # Safety
/// 1. All lanes of the warp call it, those of a group with the same section. `of_section` is right in the
///    group's first lane, if the section is its own.
/// 2. If so, the workspace has the line's value, and, where the line has several sections, their partial results
///    and its ticket, which was 0. Each section of the line is given once in the launch.
#[inline(always)]
pub unsafe fn share_section<R: Reduction<T>, T: Pod>(
    of_section: R::Accumulator,
    section: Section,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
) {
    let (lane, plan) = (thread::thread_idx_x() % LANES_OF_PART, section.plan);
    let is_whole = plan.sections == 1;
    if is_whole && section.is_own && lane == 0 {
        // SAFETY: (1) there is one for each line, by (2). (2) One lane of one group writes it.
        unsafe {
            let value = R::finish(of_section, plan.elements);
            workspace.values.store(section.line, value);
        }
    }
    let is_shared = section.is_own && !is_whole;
    let mut ticket = 0;
    if is_shared && lane == 0 {
        // SAFETY: (1) of each access is (2). (2) A group writes its own partial result; tickets are
        // touched by atomics alone.
        unsafe {
            let at = section.first + section.number;
            workspace.partials.store(at, of_section);
            thread::fence_device();
            ticket = workspace.tickets.atomic_add(section.ticket, 1);
        }
    }
    ticket = warp::shuffle_width(LaneMask::all(), ticket, 0, LANES_OF_PART);
    warp::sync(LaneMask::all());
    let is_last = is_shared && ticket as usize + 1 == plan.sections;
    let mut of_lane = R::IDENTITY;
    if is_last {
        // The tickets that came before stand for partial results: what follows must see them.
        thread::fence_device();
        // SAFETY: (1) the line's partial results are written, as the tickets say.
        of_lane = unsafe {
            reduce_partials::<R, T>(workspace.partials, section.first, plan.sections, lane)
        };
    }
    let total = combine_lanes::<R, T>(of_lane, LANES_OF_PART);
    if is_last && lane == 0 {
        // SAFETY: (1) both have an element for the line, by (2). (2) All other groups of the line are
        // done with them.
        unsafe {
            let value = R::finish(total, plan.elements);
            workspace.values.store(section.line, value);
            workspace.tickets.atomic_store(section.ticket, 0);
        }
    }
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

//! Combines the parts and sections of contiguous lines.

use super::combine::combine_lanes;
use super::plan::{LANES_OF_PART, LinePlan, MOST_PARTS};
use super::views::LineWorkspace;
use crate::reduce::operation::Reduction;
use cuda_std::Pod;
use cuda_std::array;
use cuda_std::prelude::*;

/// Partial results that a lane loads before it combines.
const IN_FLIGHT: usize = 4;

/// Shared memory with an accumulator for each group of 32 lanes of a block.
pub type PartScratch<'block, A> = SharedArray<'block, A, MOST_PARTS>;

/// A section of a line, as seen by the groups of its parts.
#[derive(Clone, Copy)]
pub struct Section {
    pub line: usize,
    /// The section's number in its line.
    pub number: usize,
    /// The index of the partial result of the line's first section; the others follow.
    pub first: usize,
    /// The index of the line's ticket.
    pub ticket: usize,
    /// The line's split.
    pub plan: LinePlan,
    /// Whether the section exists, and the calling group has its first part.
    pub is_own: bool,
}

/// Combines the parts of a section: neighbours, then neighbouring pairs, and so on.
///
/// The first lane of the first part's group gets the result; others get an unspecified value. The parts belong to
/// consecutive groups of 32 lanes, starting at a multiple of their number.
///
/// # Safety
/// 1. All threads of a block call it, the groups of a section with the same number of parts, a power of two
///    up to [`MOST_PARTS`].
/// 2. `of_part` is valid in the first lane of its group.
/// 3. Only this block uses `scratch`, and for nothing else.
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
        // SAFETY: the scratch has an element for each group. One lane of each writes it.
        unsafe { scratch.store(group, of_part) };
    }
    thread::sync_threads();
    let mut of_lane = R::IDENTITY;
    if lane < parts && group.is_multiple_of(parts) {
        // SAFETY: a section's groups are in one block: the caller's contract. They wrote their
        // elements before the barrier above.
        of_lane = unsafe { scratch.load(group + lane) };
    }
    combine_lanes::<R, T>(of_lane, MOST_PARTS as u32)
}

/// Writes the value of a line of one section, or the partial result of one of several.
///
/// The last group to do so combines the partial results of all of the line's sections.
///
/// # Safety
/// 1. All lanes of the warp call it, those of a group with the same section. If `section.is_own`, `of_section` is
///    valid in the group's first lane.
/// 2. If so, the workspace has the line's value and, for several sections, their partial results and the line's
///    ticket, which was 0. Each section of the line is passed once in the launch.
#[inline(always)]
pub unsafe fn share_section<R: Reduction<T>, T: Pod>(
    of_section: R::Accumulator,
    section: Section,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
) {
    let (lane, plan) = (thread::thread_idx_x() % LANES_OF_PART, section.plan);
    let is_whole = plan.sections == 1;
    if is_whole && section.is_own && lane == 0 {
        // SAFETY: the workspace has the line's value: the caller's contract. One lane of one group
        // writes it.
        unsafe {
            let value = R::finish(of_section, plan.elements);
            workspace.values.store(section.line, value);
        }
    }
    let is_shared = section.is_own && !is_whole;
    let mut ticket = 0;
    if is_shared && lane == 0 {
        // SAFETY: the workspace has the elements: the caller's contract. A group writes its own
        // partial result. All accesses to tickets are atomic.
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
        // Makes the partial results of earlier tickets visible.
        thread::fence_device();
        // SAFETY: the last ticket means that all of the line's partial results are written. The
        // fences make them visible.
        of_lane = unsafe {
            reduce_partials::<R, T>(workspace.partials, section.first, plan.sections, lane)
        };
    }
    let total = combine_lanes::<R, T>(of_lane, LANES_OF_PART);
    if is_last && lane == 0 {
        // SAFETY: both have an element for the line: the caller's contract. All other groups of the line have taken
        // their tickets.
        unsafe {
            let value = R::finish(total, plan.elements);
            workspace.values.store(section.line, value);
            workspace.tickets.atomic_store(section.ticket, 0);
        }
    }
}

/// Reduces a lane's share of the `parts` partial results of a line, from index `first`.
///
/// # Safety
/// 1. `partials` has the results, and they are visible to this thread.
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
            // SAFETY: the part exists: compared above. It is written and visible: the caller's
            // contract.
            unsafe { partials.load(first + at) }
        });
        for value in &loaded {
            total = R::combine(total, *value);
        }
        part += stride * IN_FLIGHT;
    }
    total
}

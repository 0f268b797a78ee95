//! Segments: contiguous lines of different lengths.
//!
//! ```text
//! long ones:   a group of 32 lanes for each part, from a list, and a block for a section of eight
//! short ones:  a group of 8 lanes for each, a vector of each lane at a time
//! ```
//!
//! The blocks for listed parts come first, so the longest work starts first. A segment has the tree of a line of its
//! length.

use super::along::reduce_part;
use super::combine::{combine_lanes, combine_neighbours, combine_quad};
use super::plan::{
    ACCUMULATORS, LANE_ACCUMULATORS, LANES_OF_PART, LINE_THREADS, LinePlan, SEGMENT_LANES,
    listed_section,
};
use super::sections::{PartScratch, Section, combine_parts, share_section};
use super::source::Source;
use super::views::LineWorkspace;
use crate::reduce::operation::Reduction;
use cuda_std::array;
use cuda_std::hint;
use cuda_std::prelude::*;

/// Vectors per lane in the longest of the short segments.
const ROUNDS: usize = ACCUMULATORS / (SEGMENT_LANES as usize * LANE_ACCUMULATORS);

/// The segments of an array, or of two arrays with equal offsets.
#[derive(Clone, Copy)]
pub struct Segments<'launch, X> {
    /// The elements.
    pub source: X,
    /// The start of each segment, and the end of the last.
    pub offsets: Global<'launch, u64>,
    /// The list of parts of the long segments.
    pub parts: Global<'launch, u64>,
}

impl<X: Source> Segments<'_, X> {
    /// The start of a segment, and its number of elements.
    ///
    /// # Safety
    /// 1. The segment exists.
    #[inline(always)]
    unsafe fn place(self, segment: usize) -> (usize, usize) {
        // SAFETY: the segment exists: the caller's contract. There is one offset more than
        // segments.
        let (start, end) = unsafe { (self.offsets.load(segment), self.offsets.load(segment + 1)) };
        (start as usize, (end - start) as usize)
    }
}

/// # Safety
/// 1. The launch has blocks of `LINE_THREADS` threads along x: one for each 8 parts, and then one for
///    each 32 segments.
/// 2. The offsets are ascending, and none is past the end of an array of the source.
/// 3. For every segment of more than 128 elements, `parts` has each section once for each of its parts. A segment's
///    entries are consecutive and in order. Segments with the most parts per section come first.
/// 4. If a segment has several sections, `workspace` has a partial result and a ticket, which is 0, for each element
///    of `parts`. It has a value for each segment, and only this launch uses it.
/// 5. Only this block uses `scratch`.
#[inline(always)]
pub unsafe fn reduce_segments<R: Reduction<X::Element>, X: Source, const VECTOR: usize>(
    segments: Segments<X>,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
    scratch: PartScratch<R::Accumulator>,
) {
    let groups = (LINE_THREADS / LANES_OF_PART) as usize;
    let part_blocks = segments.parts.len().div_ceil(groups);
    let block = thread::block_idx_x() as usize;
    // SAFETY: the caller's contract.
    unsafe {
        if block < part_blocks {
            reduce_listed::<R, X, VECTOR>(segments, block, workspace, scratch);
        } else {
            reduce_short::<R, X, VECTOR>(segments, block - part_blocks, workspace.values);
        }
    }
}

/// Reduces the listed parts, one for each group of 32 lanes.
///
/// # Safety
/// As for [`reduce_segments`].
#[inline(always)]
unsafe fn reduce_listed<R: Reduction<X::Element>, X: Source, const VECTOR: usize>(
    segments: Segments<X>,
    block: usize,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
    scratch: PartScratch<R::Accumulator>,
) {
    let groups = (LINE_THREADS / LANES_OF_PART) as usize;
    let place = block * groups + (thread::thread_idx_x() / LANES_OF_PART) as usize;
    let listed = segments.parts.get(place);
    let (segment, number) = listed_section(listed.unwrap_or(0));
    // SAFETY: the list only has sections of existing segments. If there is a block, there is a segment.
    let (start, len) = unsafe { segments.place(segment) };
    let (source, plan) = (segments.source.skip(start), LinePlan::new(len));
    // The parts of a section begin at a multiple of their number: earlier segments have at least as many parts per
    // section.
    let turns = plan.turns(number, place & (plan.parts - 1));
    // SAFETY: the segment lies within the source: the caller's contract.
    let of_part = unsafe { reduce_part::<R, X, VECTOR>(source, turns, listed.is_some()) };

    // Recomputed, because the loop needs the registers.
    let (plan, place) = (
        LinePlan::new(hint::opaque_size(len)),
        hint::opaque_size(place),
    );
    let part = place & (plan.parts - 1);
    // SAFETY: all threads are here, and a section's parts are in one block's groups, by the order of the list.
    // `reduce_part` returns the result to the first lane. Only this block uses the scratch: the caller's contract.
    let of_section = unsafe { combine_parts::<R, X::Element>(of_part, plan.parts, scratch) };
    let first = place.saturating_sub(part + number * plan.parts);
    let section = Section {
        line: segment,
        number,
        first,
        ticket: first,
        plan,
        is_own: part == 0 && place < segments.parts.len(),
    };
    // SAFETY: no lane has returned. The list and the workspace: the caller's contract. The segment's sections are
    // consecutive.
    unsafe { share_section::<R, X::Element>(of_section, section, workspace) };
}

/// Reduces segments of at most 128 elements, one for each group of 8 lanes, and skips longer ones.
///
/// # Safety
/// As for [`reduce_segments`].
#[inline(always)]
unsafe fn reduce_short<R: Reduction<X::Element>, X: Source, const VECTOR: usize>(
    segments: Segments<X>,
    block: usize,
    values: GlobalMut<R::Output>,
) {
    let thread = thread::thread_idx_x();
    let groups = (LINE_THREADS / SEGMENT_LANES) as usize;
    let segment = block * groups + (thread / SEGMENT_LANES) as usize;
    let lane = (thread % SEGMENT_LANES) as usize;
    let mut place = (0, 0);
    if segment < values.len() {
        // SAFETY: the segment exists: compared with the number of values, one for each segment.
        place = unsafe { segments.place(segment) };
    }
    let (start, len) = place;
    let is_short = segment < values.len() && len <= ACCUMULATORS;
    let is_aligned = segments.source.skip(start).is_aligned::<VECTOR>();
    let offset_of = |round: usize| (round * SEGMENT_LANES as usize + lane) * LANE_ACCUMULATORS;
    let count_of = |round: usize| {
        let len = if is_short { len } else { 0 };
        len.saturating_sub(offset_of(round)).min(LANE_ACCUMULATORS)
    };
    let quads: [[X::Element; LANE_ACCUMULATORS]; ROUNDS] = array::from_fn(|round| {
        let at = start + offset_of(round);
        // SAFETY: the segment has the elements: the caller's contract. Alignment was checked:
        // `is_aligned`.
        unsafe {
            segments
                .source
                .quad::<VECTOR>(at, count_of(round), is_aligned)
        }
    });
    let of_rounds: [R::Accumulator; ROUNDS] = array::from_fn(|round| {
        let mut accumulators = [R::IDENTITY; LANE_ACCUMULATORS];
        combine_quad::<R, X::Element>(
            &mut accumulators,
            &quads[round],
            offset_of(round),
            count_of(round),
        );
        let of_lane = combine_neighbours::<R, X::Element, LANE_ACCUMULATORS>(accumulators);
        combine_lanes::<R, X::Element>(of_lane, SEGMENT_LANES)
    });
    let total = combine_neighbours::<R, X::Element, ROUNDS>(of_rounds);
    if is_short && lane == 0 {
        // SAFETY: the segment exists: compared above. One lane of one group writes its value.
        unsafe { values.store(segment, R::finish(total, len)) };
    }
}

//! Segments: contiguous lines, each of its own length.
//!
//! ```text
//! long ones:   a group of 32 lanes for each part, from a list, and a block for a section of eight
//! short ones:  a group of 8 lanes for each, a vector of each lane at a time
//! ```
//!
//! The blocks of the list come first, so that the longest work starts first. The tree of a segment is
//! that of a line of its length.

use super::along::reduce_part;
use super::combine::{combine_lanes, combine_neighbours, combine_quad};
use super::plan::{
    LANES_OF_PART, LINE_THREADS, LinePlan, SEGMENT_LANES, STRANDS, STRANDS_OF_LANE, listed_section,
};
use super::sections::{PartScratch, Section, combine_parts, share_section};
use super::source::Source;
use super::views::LineWorkspace;
use crate::reduce::operation::Reduction;
use cuda_std::array;
use cuda_std::hint;
use cuda_std::prelude::*;

/// Vectors of a lane that make up the longest of the short segments.
const ROUNDS: usize = STRANDS / (SEGMENT_LANES as usize * STRANDS_OF_LANE);

/// The segments of an array, or of two with the same ones.
#[derive(Clone, Copy)]
pub struct Segments<'launch, X> {
    pub source: X,
    /// Where each segment starts, and the last one ends.
    pub offsets: Global<'launch, u64>,
    /// The parts of the long segments.
    pub parts: Global<'launch, u64>,
}

impl<X: Source> Segments<'_, X> {
    /// Where a segment starts, and its elements.
    ///
    /// # Safety
    /// 1. There is such a segment.
    #[inline(always)]
    unsafe fn place(self, segment: usize) -> (usize, usize) {
        // SAFETY: (1) there is one offset more than segments.
        let (start, end) = unsafe { (self.offsets.load(segment), self.offsets.load(segment + 1)) };
        (start as usize, (end - start) as usize)
    }
}

/// # Safety
/// 1. The launch has blocks of `LINE_THREADS` threads along x: one for each 8 parts, and then one for
///    each 32 segments.
/// 2. The offsets are ascending, none beyond the end of an array of the source.
/// 3. `parts` has each section of every segment of more than 128 elements as often as it has parts, those of
///    a segment one after another in order. The segments with the most parts of a section come first.
/// 4. If a segment has several sections, `workspace` has a partial result and a ticket, which is 0, for
///    each element of `parts`. It has a value for each segment, and the launch has it for itself.
/// 5. `scratch` is the block's own.
#[inline(always)]
pub unsafe fn reduce_segments<R: Reduction<X::Element>, X: Source, const VECTOR: usize>(
    segments: Segments<X>,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
    scratch: PartScratch<R::Accumulator>,
) {
    let groups = (LINE_THREADS / LANES_OF_PART) as usize;
    let part_blocks = segments.parts.len().div_ceil(groups);
    let block = thread::block_idx_x() as usize;
    // SAFETY: (1) to (5) are the caller's.
    unsafe {
        if block < part_blocks {
            reduce_listed::<R, X, VECTOR>(segments, block, workspace, scratch);
        } else {
            reduce_short::<R, X, VECTOR>(segments, block - part_blocks, workspace.values);
        }
    }
}

/// Parts of the list, each of a group of 32 lanes.
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
    // SAFETY: (1) the list has sections of segments alone; there is a segment where there are blocks.
    let (start, len) = unsafe { segments.place(segment) };
    let (source, plan) = (segments.source.skip(start), LinePlan::new(len));
    // The parts of a section are listed from a multiple of their number on: so are those of the segments
    // before, of as many parts or more.
    let turns = plan.turns(number, place & (plan.parts - 1));
    // SAFETY: (1) the segment lies in the source, by (2) of the caller.
    let of_part = unsafe { reduce_part::<R, X, VECTOR>(source, turns, listed.is_some()) };

    // Computed again: the loop needs the registers that would hold it.
    let (plan, place) = (
        LinePlan::new(hint::opaque_size(len)),
        hint::opaque_size(place),
    );
    let part = place & (plan.parts - 1);
    // SAFETY: (1) all threads are here, and the parts of a section in the groups of one block, by (3). (2)
    // `reduce_part` says so. (3) is (5).
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
    // SAFETY: (1) no lane has returned. (2) is (3) and (4): the segment's sections follow one another.
    unsafe { share_section::<R, X::Element>(of_section, section, workspace) };
}

/// Segments of at most 128 elements, each of a group of 8 lanes; the long ones among them are left out.
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
        // SAFETY: (1) is the comparison, by (4).
        place = unsafe { segments.place(segment) };
    }
    let (start, len) = place;
    let is_short = segment < values.len() && len <= STRANDS;
    let is_aligned = segments.source.skip(start).is_aligned::<VECTOR>();
    let offset_of = |round: usize| (round * SEGMENT_LANES as usize + lane) * STRANDS_OF_LANE;
    let count_of = |round: usize| {
        let len = if is_short { len } else { 0 };
        len.saturating_sub(offset_of(round)).min(STRANDS_OF_LANE)
    };
    let quads: [[X::Element; STRANDS_OF_LANE]; ROUNDS] = array::from_fn(|round| {
        let at = start + offset_of(round);
        // SAFETY: (1) the segment has them, by (2) of the caller. (2) `is_aligned` says so.
        unsafe {
            segments
                .source
                .quad::<VECTOR>(at, count_of(round), is_aligned)
        }
    });
    let of_rounds: [R::Accumulator; ROUNDS] = array::from_fn(|round| {
        let mut strands = [R::IDENTITY; STRANDS_OF_LANE];
        combine_quad::<R, X::Element>(
            &mut strands,
            &quads[round],
            offset_of(round),
            count_of(round),
        );
        let of_lane = combine_neighbours::<R, X::Element, STRANDS_OF_LANE>(strands);
        combine_lanes::<R, X::Element>(of_lane, SEGMENT_LANES)
    });
    let total = combine_neighbours::<R, X::Element, ROUNDS>(of_rounds);
    if is_short && lane == 0 {
        // SAFETY: (1) is the comparison. (2) One lane of one group writes it.
        unsafe { values.store(segment, R::finish(total, len)) };
    }
}

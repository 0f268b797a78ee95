//! Segments: contiguous lines, each of its own length.
//!
//! ```text
//! long ones:   a group of 32 lanes for each part, from a list, as for lines of several parts
//! short ones:  a group of 8 lanes for each, a vector of each lane at a time
//! ```
//!
//! The blocks of the list come first, so that the longest work starts first. The tree of a segment is
//! that of a line of its length.

use super::along::{Unit, reduce_part, share_part};
use super::combine::{combine_lanes, combine_neighbours, combine_quad};
use super::plan::{
    LANES_OF_PART, LINE_THREADS, LinePlan, SEGMENT_LANES, STRANDS, STRANDS_OF_LANE, listed_part,
};
use super::source::Source;
use super::views::{LineWorkspace, Lines};
use crate::reduce::operation::Reduction;
use cuda_std::array;
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
/// 3. `parts` has every part of every segment of more than 128 elements, those of a segment one after
///    another in order.
/// 4. If a segment has several parts, `workspace` has a partial result and a ticket, which is 0, for
///    each element of `parts`. It has a value for each segment, and the launch has it for itself.
#[inline(always)]
pub unsafe fn reduce_segments<R: Reduction<X::Element>, X: Source, const VECTOR: usize>(
    segments: Segments<X>,
    workspace: LineWorkspace<R::Accumulator, R::Output>,
) {
    let groups = (LINE_THREADS / LANES_OF_PART) as usize;
    let part_blocks = segments.parts.len().div_ceil(groups);
    let block = thread::block_idx_x() as usize;
    // SAFETY: (1) to (4) are the caller's.
    unsafe {
        if block < part_blocks {
            reduce_listed::<R, X, VECTOR>(segments, block, workspace);
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
) {
    let thread = thread::thread_idx_x();
    let groups = (LINE_THREADS / LANES_OF_PART) as usize;
    let (number, lane) = (
        block * groups + (thread / LANES_OF_PART) as usize,
        thread % LANES_OF_PART,
    );
    let listed = segments.parts.get(number);
    let (segment, part) = listed_part(listed.unwrap_or(0));
    // SAFETY: (1) the list has parts of segments alone; there is a segment where there are blocks.
    let (start, len) = unsafe { segments.place(segment) };
    let line = Lines {
        source: segments.source.skip(start),
        count: 1,
        len,
    };
    let plan = LinePlan::new(len);
    // SAFETY: (1) the one line lies in the source, by (2) of the caller.
    let of_lane =
        unsafe { reduce_part::<R, X, VECTOR>(line, plan, (0, part), lane, listed.is_some()) };
    let of_part = combine_lanes::<R, X::Element>(of_lane, LANES_OF_PART);
    let is_one = plan.parts == 1;
    if is_one && listed.is_some() && lane == 0 {
        // SAFETY: (1) there is one for each segment, by (4). (2) One lane of one group writes it.
        unsafe { workspace.values.store(segment, R::finish(of_part, len)) };
    }
    let first = number.saturating_sub(part);
    let unit = Unit {
        line: segment,
        part,
        first,
        ticket: first,
        plan,
    };
    // SAFETY: (1) no lane has returned. (2) is (3) and (4): the segment's parts follow one another.
    unsafe {
        share_part::<R, X::Element>(of_part, unit, listed.is_some() && !is_one, workspace);
    }
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

//! Reductions of many lines at once: the rows or the columns of a matrix, one value for each.
//!
//! A line's elements lie one after another (`along`), or those of neighbouring lines do (`across`);
//! segments (`segments`) are contiguous lines of their own lengths. All combine in the one tree of
//! [`LinePlan`], so the order of the matrix does not change a bit. `combine.rs` has the tree's steps,
//! `views.rs` what a launch reads and writes, and `load.rs` reads elements of contiguous lines.

mod across;
mod along;
mod combine;
mod load;
mod plan;
mod segments;
mod views;

use super::operation::Reduction;
use super::operations::*;
use across::reduce_across;
use along::reduce_along;
use cuda_std::prelude::*;
use half::{bf16, f16};
use segments::{Segments, reduce_segments};
use views::{LineWorkspace, Lines};

pub(crate) use along::reduce_partials;
pub(crate) use combine::{combine_lanes, combine_neighbours};
pub use plan::{
    ACROSS_LINES, LANES_OF_PART, LINE_THREADS, LINES_IN_FLIGHT, LinePlan, SEGMENT_LANES, STRANDS,
    STRANDS_OF_LANE, list_part,
};

macro_rules! line_kernels {
    ($($operation:ident of $element:ident: $along:ident at $along_blocks:literal blocks,
        $across:ident at $across_blocks:literal blocks;)*) => {$(
        line_kernels!(@along $along, $operation of $element, $along_blocks);
        line_kernels!(@across $across, $operation of $element, $across_blocks);
    )*};
    (@along $name:ident, $operation:ident of $element:ident, $blocks:literal) => {
        line_kernels!(@entry $blocks, $name, $operation of $element, lanes: u32,
            "A line's elements lie one after another.",
            "4. `lanes` is a power of two up to 32, and `4 * lanes` at least the smaller of `len` and 128. \
             There are threads for all lines, 4 lines for each `lanes` threads where `len` is at most 128, \
             and otherwise for all parts of all lines.",
            "`apart` elements lie from one line to the next",
            |lines, workspace| reduce_along::<
                $operation, $element, { if size_of::<$element>() == 8 { 2 } else { 4 } }
            >(lines, lanes, workspace));
    };
    (@across $name:ident, $operation:ident of $element:ident, $blocks:literal) => {
        line_kernels!(@entry $blocks, $name, $operation of $element, groups: u32,
            "The elements of neighbouring lines lie one after another.",
            "4. `groups` is `count` by the lines of a block ([`LinePlan::lines_of_block_across`]), rounded \
             up, and there are `groups` blocks for each part.",
            "`apart` elements lie from one element of a line to the next",
            |lines, workspace| {
                let scratch = shared_array![
                    <$operation as Reduction<$element>>::Accumulator; LINE_THREADS as usize
                ];
                let flag = shared_array![u32; 1];
                reduce_across::<$operation, $element>(lines, groups, workspace, scratch, flag)
            });
    };
    (@entry $blocks:literal, $name:ident, $operation:ident of $element:ident, $extra:ident: u32, $where:literal,
        $grid:literal, $apart:literal, |$lines:ident, $workspace:ident| $body:expr) => {
        #[doc = concat!("[`", stringify!($operation), "`] of each of `count` lines of `len` ",
            stringify!($element), ". ", $where)]
        ///
        /// `partials` has an element for each part of each line, `tickets` a counter for each line, or
        /// for each 32 where they are not contiguous. Where lines have one part, both may be empty.
        ///
        /// # Safety
        /// 1. The launch has blocks of [`LINE_THREADS`] threads along x.
        #[doc = concat!("2. `x` has all elements of the lines: ", $apart, ".")]
        /// 3. The tickets are 0 and no other launch uses `partials` and `tickets` meanwhile; the
        ///    launch leaves the tickets at 0. `values` has an element for each line.
        #[doc = $grid]
        #[kernel(max_threads = 256, min_blocks = $blocks)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe fn $name(
            x: Global<$element>,
            count: usize,
            len: usize,
            apart: usize,
            $extra: u32,
            partials: GlobalMut<<$operation as Reduction<$element>>::Accumulator>,
            tickets: GlobalMut<u32>,
            values: GlobalMut<<$operation as Reduction<$element>>::Output>,
        ) {
            let $lines = Lines { x, count, len, apart };
            let $workspace = LineWorkspace { partials, tickets, values };
            // SAFETY: (1) to (4) are the launch's; shared memory is declared here.
            unsafe { $body }
        }
    };
}
for_each_line_reduction!(line_kernels);

macro_rules! segment_kernels {
    ($($operation:ident of $element:ident: $name:ident at $blocks:literal blocks;)*) => {$(
        #[doc = concat!("[`", stringify!($operation), "`] of each segment of an array of ",
            stringify!($element), ".")]
        ///
        /// `offsets` says where each segment starts and the last one ends; `parts` lists the parts of
        /// the segments of more than 128 elements.
        ///
        /// # Safety
        /// 1. The launch has blocks of [`LINE_THREADS`] threads along x: one for each 8 parts, rounded
        ///    up, and one for each 32 segments. There is a segment at least.
        /// 2. `offsets` are ascending, one more than segments, and none is beyond the end of `x`.
        /// 3. `parts` has each part of the [`LinePlan`] of every segment of more than 128 elements, as
        ///    [`list_part`] makes it, those of a segment one after another in order.
        /// 4. If a segment has several parts, `partials` and `tickets` are as long as `parts`. The
        ///    tickets are 0 and no other launch uses both meanwhile; the launch leaves the tickets at
        ///    0. `values` has an element for each segment.
        #[kernel(max_threads = 256, min_blocks = $blocks)]
        pub unsafe fn $name(
            x: Global<$element>,
            offsets: Global<u64>,
            parts: Global<u64>,
            partials: GlobalMut<<$operation as Reduction<$element>>::Accumulator>,
            tickets: GlobalMut<u32>,
            values: GlobalMut<<$operation as Reduction<$element>>::Output>,
        ) {
            const VECTOR: usize = if size_of::<$element>() == 8 { 2 } else { 4 };
            let segments = Segments { x, offsets, parts };
            let workspace = LineWorkspace { partials, tickets, values };
            // SAFETY: (1) to (4) are the launch's.
            unsafe { reduce_segments::<$operation, $element, VECTOR>(segments, workspace) }
        }
    )*};
}
for_each_segment_reduction!(segment_kernels);

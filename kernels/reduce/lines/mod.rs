//! Reductions of lines: one value for each row or column of a matrix.
//!
//! Either a line's elements are contiguous (`along`), or those of neighbouring lines are (`across`). Segments
//! (`segments`) are contiguous lines of different lengths. All combine in the tree of [`LinePlan`], so the order of
//! the matrix does not change a bit. `combine.rs` has the tree's steps, `sections.rs` combines the parts of
//! contiguous lines, `views.rs` has a launch's inputs and outputs, and `source.rs` reads the elements of one array,
//! or the pairs of two.

mod across;
mod along;
mod combine;
mod plan;
mod sections;
mod segments;
mod source;
mod views;

use super::operation::Reduction;
use super::operations::*;
use across::reduce_across;
use along::reduce_along;
use cuda_std::prelude::*;
use half::{bf16, f16};
use segments::{Segments, reduce_segments};
use source::{OneArray, TwoArrays};
use views::{LineWorkspace, Lines};

pub(crate) use combine::{combine_lanes, combine_neighbours};
pub use plan::{
    ACCUMULATORS, ACROSS_LINES, LANE_ACCUMULATORS, LANES_OF_PART, LINE_THREADS, LINES_IN_FLIGHT,
    LinePlan, MOST_PARTS, SEGMENT_LANES, TURN, Turns, list_section,
};
pub(crate) use sections::reduce_partials;

/// Elements per aligned load: at most 16 bytes, and at most four elements.
const fn vector_of<T>() -> usize {
    if size_of::<T>() == 8 { 2 } else { 4 }
}

/// The kernels that reduce lines of `$item`s, from one array of `$element` or two: `$along` for contiguous lines,
/// `$across` if neighbouring lines are contiguous. `$source` has the lines.
macro_rules! line_kernels {
    ($arrays:tt of $element:ident: $operation:ident of $item:ty, $source:expr,
        $along:ident at $along_blocks:literal blocks, $across:ident at $across_blocks:literal blocks) => {
        line_kernels! { @entry $arrays $along_blocks, $along of $element: $operation of $item, lanes,
            "A line's elements lie one after another.",
            "4. `lanes` is a power of two up to 32, and `4 * lanes` at least the smaller of `len` and 128. \
             There are threads for all lines, 4 lines for each `lanes` threads where `len` is at most 128, \
             and otherwise 32 for each part of each section of all lines.",
            "from one line to the next",
            |count, len, workspace| {
                let lines = Lines { source: $source, count, len };
                let scratch = shared_array![<$operation as Reduction<$item>>::Accumulator; MOST_PARTS];
                reduce_along::<$operation, _, { vector_of::<$element>() }>(
                    lines, lanes, workspace, scratch)
            }
        }
        line_kernels! { @entry $arrays $across_blocks, $across of $element: $operation of $item, groups,
            "The elements of neighbouring lines lie one after another.",
            "4. `groups` is `count` by the lines of a block ([`LinePlan::lines_of_block_across`]), rounded \
             up, and there are `groups` blocks for each unit ([`LinePlan::units_across`] of each section).",
            "from one element of a line to the next",
            |count, len, workspace| {
                let lines = Lines { source: $source, count, len };
                let scratch = shared_array![
                    <$operation as Reduction<$item>>::Accumulator; LINE_THREADS as usize
                ];
                let flag = shared_array![u32; 1];
                reduce_across::<$operation, _>(lines, groups, workspace, scratch, flag)
            }
        }
    };
    (@entry ($x:ident $apart:ident $(, $y:ident $y_apart:ident)?) $blocks:literal,
        $name:ident of $element:ident: $operation:ident of $item:ty, $extra:ident,
        $where:literal, $grid:literal, $stride:literal,
        |$count:ident, $len:ident, $workspace:ident| $body:expr) => {
        #[doc = concat!("[`", stringify!($operation), "`] of each of `count` lines of `len` ",
            stringify!($element), $(", paired with those of `", stringify!($y), "`",)? ". ", $where)]
        ///
        /// For contiguous lines, `partials` has an element for each section of each line, and `tickets` a counter for
        /// each line; otherwise an element for each unit, and a counter for each 32 lines. If lines have one section,
        /// or one unit, both may be empty.
        ///
        /// # Safety
        /// 1. The launch has blocks of [`LINE_THREADS`] threads along x.
        #[doc = concat!("2. `", stringify!($x), "` has all elements of the lines: `", stringify!($apart),
            "` is the stride ", $stride, ".",
            $(" Likewise `", stringify!($y), "` with the stride `", stringify!($y_apart), "`.",)?)]
        /// 3. The tickets are 0 and no other launch uses `partials` and `tickets` meanwhile; the
        ///    launch leaves the tickets at 0. `values` has an element for each line.
        #[doc = $grid]
        #[kernel(max_threads = 256, min_blocks = $blocks)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe fn $name(
            $x: Global<$element>,
            $($y: Global<$element>,)?
            count: usize,
            len: usize,
            $apart: usize,
            $($y_apart: usize,)?
            $extra: u32,
            partials: GlobalMut<<$operation as Reduction<$item>>::Accumulator>,
            tickets: GlobalMut<u32>,
            values: GlobalMut<<$operation as Reduction<$item>>::Output>,
        ) {
            let ($count, $len) = (count, len);
            let $workspace = LineWorkspace { partials, tickets, values };
            // SAFETY: the caller's contract. Shared memory is declared here.
            unsafe { $body }
        }
    };
}

macro_rules! kernels_of_lines {
    ($($operation:ident of $element:ident: $along:ident at $along_blocks:literal blocks,
        $across:ident at $across_blocks:literal blocks;)*) => {$(
        line_kernels! {
            (x apart) of $element: $operation of $element, OneArray::new(x, apart),
            $along at $along_blocks blocks, $across at $across_blocks blocks
        }
    )*};
}
for_each_line_reduction!(kernels_of_lines);

macro_rules! kernels_of_pair_lines {
    ($($operation:ident of $element:ident: $along:ident at $along_blocks:literal blocks,
        $across:ident at $across_blocks:literal blocks;)*) => {$(
        line_kernels! {
            (x apart, y y_apart) of $element: $operation of [$element; 2],
            TwoArrays::new(OneArray::new(x, apart), OneArray::new(y, y_apart)),
            $along at $along_blocks blocks, $across at $across_blocks blocks
        }
    )*};
}
for_each_pair_line_reduction!(kernels_of_pair_lines);

/// A kernel that reduces segments of `$item`s, from one array of `$element` or two.
macro_rules! segment_kernel {
    (($x:ident $(, $y:ident)?) of $element:ident: $operation:ident of $item:ty, $source:expr,
        $name:ident at $blocks:literal blocks) => {
        #[doc = concat!("[`", stringify!($operation), "`] of each segment of an array of ",
            stringify!($element), $(", paired with those of `", stringify!($y), "`",)? ".")]
        ///
        /// `offsets` has the start of each segment, and the end of the last. `parts` lists the sections of segments
        /// of more than 128 elements, once for each part of the section.
        ///
        /// # Safety
        /// 1. The launch has blocks of [`LINE_THREADS`] threads along x: one for each 8 parts, rounded up, and one
        ///    for each 32 segments. There is at least one segment.
        #[doc = concat!("2. `offsets` are ascending, one more than segments, and none is past the end of `",
            stringify!($x), "`", $(" or of `", stringify!($y), "`",)? ".")]
        /// 3. For every segment of more than 128 elements, `parts` has each section of its [`LinePlan`], from
        ///    [`list_section`], once for each part of the section. A segment's entries are consecutive and in order.
        ///    Segments with the most parts per section come first.
        /// 4. If a segment has several sections, `partials` and `tickets` are as long as `parts`. The
        ///    tickets are 0, and no other launch uses either meanwhile; the launch leaves 0 in the tickets.
        ///    `values` has an element for each segment.
        #[kernel(max_threads = 256, min_blocks = $blocks)]
        pub unsafe fn $name(
            $x: Global<$element>,
            $($y: Global<$element>,)?
            offsets: Global<u64>,
            parts: Global<u64>,
            partials: GlobalMut<<$operation as Reduction<$item>>::Accumulator>,
            tickets: GlobalMut<u32>,
            values: GlobalMut<<$operation as Reduction<$item>>::Output>,
        ) {
            const VECTOR: usize = vector_of::<$element>();
            let segments = Segments { source: $source, offsets, parts };
            let workspace = LineWorkspace { partials, tickets, values };
            let scratch = shared_array![<$operation as Reduction<$item>>::Accumulator; MOST_PARTS];
            // SAFETY: the caller's contract. The scratch is declared here.
            unsafe { reduce_segments::<$operation, _, VECTOR>(segments, workspace, scratch) }
        }
    };
}

macro_rules! kernels_of_segments {
    ($($operation:ident of $element:ident: $name:ident at $blocks:literal blocks;)*) => {$(
        segment_kernel! {
            (x) of $element: $operation of $element, OneArray::new(x, 0), $name at $blocks blocks
        }
    )*};
}
for_each_segment_reduction!(kernels_of_segments);

macro_rules! kernels_of_pair_segments {
    ($($operation:ident of $element:ident: $name:ident at $blocks:literal blocks;)*) => {$(
        segment_kernel! {
            (x, y) of $element: $operation of [$element; 2],
            TwoArrays::new(OneArray::new(x, 0), OneArray::new(y, 0)), $name at $blocks blocks
        }
    )*};
}
for_each_pair_segment_reduction!(kernels_of_pair_segments);

//! Reductions of many lines at once: the rows or the columns of a matrix, one value for each.
//!
//! A line's elements lie one after another (`along`), or those of neighbouring lines do (`across`);
//! segments (`segments`) are contiguous lines of their own lengths. All combine in the one tree of
//! [`LinePlan`], so the order of the matrix does not change a bit.

mod across;
mod along;
mod load;
mod plan;
mod segments;

use super::operation::Reduction;
use super::operations::*;
use across::reduce_across;
use along::reduce_along;
use cuda_std::Pod;
use cuda_std::prelude::*;
use half::{bf16, f16};

pub(crate) use along::{combine_lanes, reduce_partials};
pub use plan::{
    ACROSS_LINES, LANES_OF_PART, LINE_THREADS, LINES_IN_FLIGHT, LinePlan, SEGMENT_LANES, STRANDS,
    STRANDS_OF_LANE, list_part,
};
use segments::{Segments, reduce_segments};

/// The lines of a matrix.
#[derive(Clone, Copy)]
struct Lines<'launch, T> {
    x: Global<'launch, T>,
    /// Their number.
    count: usize,
    /// Elements of a line.
    len: usize,
    /// Elements from one line to the next where a line is contiguous, from one element of a line to
    /// the next where it is not.
    apart: usize,
}

/// What the blocks of one launch write. If lines have one part each, the first two are not touched.
#[derive(Clone, Copy)]
struct LineWorkspace<'launch, A, O> {
    /// An element for each part of each line.
    partials: GlobalMut<'launch, A>,
    /// Counters, which are 0 when the launch starts and when it ends: one for each line where lines
    /// are contiguous, one for each [`ACROSS_LINES`] of them where they are not.
    tickets: GlobalMut<'launch, u32>,
    /// The value of each line.
    values: GlobalMut<'launch, O>,
}

macro_rules! line_kernels {
    ($($operation:ident of $element:ident: $along:ident, $across:ident;)*) => {$(
        line_kernels!(@along $along, $operation of $element);
        line_kernels!(@across $across, $operation of $element);
    )*};
    // Left alone, ptxas takes 40 registers on compute capability 9.0, and spills one.
    (@along $name:ident, SumOfSquares of f32) => {
        line_kernels!(@along [max_threads = 256, min_blocks = 5] $name, SumOfSquares of f32);
    };
    // For 8.0 and 8.9 it takes 48 registers, and spills one.
    (@along $name:ident, ArgMax of f32) => {
        line_kernels!(@along [max_threads = 256, min_blocks = 4] $name, ArgMax of f32);
    };
    (@along $name:ident, ArgMax of u32) => {
        line_kernels!(@along [max_threads = 256, min_blocks = 4] $name, ArgMax of u32);
    };
    (@along $name:ident, $operation:ident of $element:ident) => {
        line_kernels!(@along [max_threads = 256] $name, $operation of $element);
    };
    (@along [$($bounds:tt)*] $name:ident, $operation:ident of $element:ident) => {
        line_kernels!(@entry [$($bounds)*] $name, $operation of $element, lanes: u32,
            "A line's elements lie one after another.",
            "4. `lanes` is a power of two up to 32, and `4 * lanes` at least the smaller of `len` and 128. \
             There are threads for all lines, 4 lines for each `lanes` threads where `len` is at most 128, \
             and otherwise for all parts of all lines.",
            "`apart` elements lie from one line to the next",
            |lines, workspace| reduce_along::<
                $operation, $element, { if size_of::<$element>() == 8 { 2 } else { 4 } }
            >(lines, lanes, workspace));
    };
    // Left alone, ptxas spills for compute capability 8.6 to stay at 64 registers, which suffice.
    (@across $name:ident, Mean of bf16) => {
        line_kernels!(@across [max_threads = 256, min_blocks = 4] $name, Mean of bf16);
    };
    (@across $name:ident, Norm1 of f16) => {
        line_kernels!(@across [max_threads = 256, min_blocks = 4] $name, Norm1 of f16);
    };
    (@across $name:ident, Product of bf16) => {
        line_kernels!(@across [max_threads = 256, min_blocks = 4] $name, Product of bf16);
    };
    // These take a few more.
    (@across $name:ident, Product of i64) => {
        line_kernels!(@across [max_threads = 256, min_blocks = 3] $name, Product of i64);
    };
    (@across $name:ident, Product of u64) => {
        line_kernels!(@across [max_threads = 256, min_blocks = 3] $name, Product of u64);
    };
    (@across $name:ident, $operation:ident of $element:ident) => {
        line_kernels!(@across [max_threads = 256] $name, $operation of $element);
    };
    (@across [$($bounds:tt)*] $name:ident, $operation:ident of $element:ident) => {
        line_kernels!(@entry [$($bounds)*] $name, $operation of $element, groups: u32,
            "The elements of neighbouring lines lie one after another.",
            "4. `groups` is `count / 32`, rounded up, and there are `groups` blocks for each part.",
            "`apart` elements lie from one element of a line to the next",
            |lines, workspace| {
                let scratch = shared_array![
                    <$operation as Reduction<$element>>::Accumulator; LINE_THREADS as usize
                ];
                let flag = shared_array![u32; 1];
                reduce_across::<$operation, $element>(lines, groups, workspace, scratch, flag)
            });
    };
    (@entry [$($bounds:tt)*] $name:ident, $operation:ident of $element:ident, $extra:ident: u32, $where:literal,
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
        #[kernel($($bounds)*)]
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
    ($($operation:ident of $element:ident: $name:ident;)*) => {$(
        segment_kernels!(@bounded $name, $operation of $element);
    )*};
    // Left alone, ptxas stays at 32 or 40 registers for compute capability 9.0, and spills one.
    (@bounded $name:ident, Min of i32) => {
        segment_kernels!(@kernel [max_threads = 256, min_blocks = 5] $name, Min of i32);
    };
    (@bounded $name:ident, Min of u32) => {
        segment_kernels!(@kernel [max_threads = 256, min_blocks = 5] $name, Min of u32);
    };
    (@bounded $name:ident, Max of i32) => {
        segment_kernels!(@kernel [max_threads = 256, min_blocks = 5] $name, Max of i32);
    };
    (@bounded $name:ident, SumOfSquares of f32) => {
        segment_kernels!(@kernel [max_threads = 256, min_blocks = 5] $name, SumOfSquares of f32);
    };
    (@bounded $name:ident, Norm2 of f32) => {
        segment_kernels!(@kernel [max_threads = 256, min_blocks = 5] $name, Norm2 of f32);
    };
    (@bounded $name:ident, NormInf of f32) => {
        segment_kernels!(@kernel [max_threads = 256, min_blocks = 5] $name, NormInf of f32);
    };
    // For compute capability 7.5 it stays at 80 registers, and spills two; with a bound it does not.
    (@bounded $name:ident, MinMax of f64) => {
        segment_kernels!(@kernel [max_threads = 256, min_blocks = 3] $name, MinMax of f64);
    };
    (@bounded $name:ident, $operation:ident of $element:ident) => {
        segment_kernels!(@kernel [max_threads = 256] $name, $operation of $element);
    };
    (@kernel [$($bounds:tt)*] $name:ident, $operation:ident of $element:ident) => {
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
        #[kernel($($bounds)*)]
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
    };
}
for_each_segment_reduction!(segment_kernels);

/// Neighbours, then neighbours of pairs, and so on, of a power of two of accumulators.
#[inline(always)]
pub(crate) fn combine_neighbours<R: Reduction<T>, T: Pod, const N: usize>(
    mut values: [R::Accumulator; N],
) -> R::Accumulator {
    let mut distance = 1;
    while distance < N {
        let mut place = 0;
        while place < N {
            values[place] = R::combine(values[place], values[place + distance]);
            place += 2 * distance;
        }
        distance *= 2;
    }
    values[0]
}

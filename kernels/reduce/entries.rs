//! The kernels that reduce whole arrays: one for each line of `table.rs`, two for each sum.

use super::custom::lanes_of;
use super::elements::Pairs;
use super::operation::Reduction;
use super::operations::*;
use super::places::find_thread_anywhere;
use super::reduction::{Workspace, reduce_grid, reduce_thread, reduce_thread_anywhere};
use cuda_std::block;
use cuda_std::prelude::*;
use half::{bf16, f16};

/// A kernel that reduces `$item`s, from one array of `$element` or two. `$of_thread` is a thread's result, by vectors
/// of `LANES` elements.
macro_rules! array_kernel {
    ([$($bounds:tt)*] $name:ident($x:ident $(, $y:ident)?) of $element:ident: $operation:ident of $item:ty,
        $summary:expr, $arrays:expr, $of_thread:expr) => {
        #[doc = $summary]
        ///
        /// `partials` holds a block's partial result each, `ticket` one counter, `result` the value.
        ///
        /// # Safety
        /// 1. The launch has blocks of [`BLOCK_THREADS`](super::BLOCK_THREADS) threads along x, and at most
        ///    as many blocks as `partials` has elements.
        #[doc = concat!("2. ", $arrays, "`ticket` and `result` have an element each.")]
        /// 3. The ticket is 0 and no other launch uses `partials` and `ticket` meanwhile; the
        ///    launch leaves the ticket at 0.
        #[kernel($($bounds)*)]
        pub unsafe fn $name(
            $x: Global<$element>,
            $($y: Global<$element>,)?
            partials: GlobalMut<<$operation as Reduction<$item>>::Accumulator>,
            ticket: GlobalMut<u32>,
            result: GlobalMut<<$operation as Reduction<$item>>::Output>,
        ) {
            const LANES: usize = lanes_of::<$element>();
            let scratch = shared_array![
                <$operation as Reduction<$item>>::Accumulator; block::MAX_WARPS
            ];
            let flag = shared_array![u32; 1];
            let workspace = Workspace {
                blocks: thread::grid_dim_x() as usize,
                partials,
                ticket,
                result,
            };
            // SAFETY: `LANES` elements are 16 bytes, and all lanes are converged. The start of `x`, equal lengths,
            // the launch and the workspace: the caller's contract. Scratch and flag are declared here.
            unsafe {
                let of_thread = $of_thread;
                reduce_grid::<$operation, $item>(of_thread, $x.len(), workspace, scratch, flag);
            }
        }
    };
}

macro_rules! sum_kernels {
    ($($name:ident, $unaligned:ident: sum of $element:ident in $accumulator:ident;)*) => {$(
        sum_kernels!(@kernel $name, true,
            "`x` starts at a multiple of 16 bytes. ": $element $accumulator);
        sum_kernels!(@kernel $unaligned, false,
            "`x` starts at any element. ": $element $accumulator);
    )*};
    // 32 registers allow full occupancy. Without a bound, these kernels take 34.
    (@kernel $name:ident, $aligned:literal, $start:literal: i64 $accumulator:ident) => {
        sum_kernels!(@entry [max_threads = 256, max_registers = 32]
            $name, $aligned, $start: i64 $accumulator);
    };
    (@kernel $name:ident, $aligned:literal, $start:literal: u64 $accumulator:ident) => {
        sum_kernels!(@entry [max_threads = 256, max_registers = 32]
            $name, $aligned, $start: u64 $accumulator);
    };
    (@kernel $name:ident, $aligned:literal, $start:literal: $element:ident $accumulator:ident) => {
        sum_kernels!(@entry [max_threads = 256]
            $name, $aligned, $start: $element $accumulator);
    };
    (@entry $bounds:tt $name:ident, $aligned:literal, $start:literal: $element:ident $accumulator:ident) => {
        array_kernel! {
            $bounds $name(x) of $element: Sum of $element,
            concat!("The sum of an array of ", stringify!($element), ", in ",
                stringify!($accumulator), ". ", $start),
            $start,
            reduce_thread::<Sum, _, LANES, $aligned>(x)
        }
    };
}
for_each_sum!(sum_kernels);

/// A thread's result for the array `$x`. Operations that return an index compare only ranks.
macro_rules! of_thread {
    (ArgMin of $x:ident) => {
        find_thread_anywhere::<ArgMin, _, LANES>($x)
    };
    (ArgMax of $x:ident) => {
        find_thread_anywhere::<ArgMax, _, LANES>($x)
    };
    ($operation:ident of $x:ident) => {
        reduce_thread_anywhere::<$operation, _, LANES>($x)
    };
}

macro_rules! reduction_kernels {
    ($($name:ident: $operation:ident of $element:ident;)*) => {$(
        array_kernel! {
            [max_threads = 256] $name(x) of $element: $operation of $element,
            concat!("[`", stringify!($operation), "`] of an array of ", stringify!($element), "."),
            "",
            of_thread!($operation of x)
        }
    )*};
}
for_each_reduction!(reduction_kernels);

macro_rules! pair_kernels {
    ($($name:ident: $operation:ident of $element:ident;)*) => {$(
        array_kernel! {
            [max_threads = 256] $name(x, y) of $element: $operation of [$element; 2],
            concat!("[`", stringify!($operation), "`] of two arrays of ", stringify!($element), "."),
            "`x` and `y` have the same length; ",
            reduce_thread_anywhere::<$operation, _, LANES>(Pairs::new(x, y))
        }
    )*};
}
for_each_pair_reduction!(pair_kernels);

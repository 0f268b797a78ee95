//! The library's kernels of softmax and normalisation: one for each class of rows and each type.

use super::norm::{Norm, Operands};
use super::softmax::Softmax;
use super::{NormShape, PARTS, SECTION_VALUES, SoftmaxShape, VALUES};
use crate::reduce::lanes_of;
use cuda_std::block::MAX_WARPS;
use cuda_std::prelude::*;
use half::{bf16, f16};

/// Calls the macro `$with` with the element types of row operations, and the kernels of each: of softmax for short
/// rows, rows of a block, those copied ahead (of 16 bits), long rows, rows of parts and those of a cluster, and likewise of
/// normalisation.
#[macro_export]
macro_rules! for_each_row_type {
    ($with:ident) => {
        $with! {
            f32: softmax_short_f32, softmax_block_f32, [], softmax_long_f32,
                softmax_parts_f32, softmax_cluster_f32,
                norm_short_f32, norm_block_f32, [], norm_long_f32,
                norm_parts_f32, norm_cluster_f32;
            f16: softmax_short_f16, softmax_block_f16, [softmax_ahead_f16], softmax_long_f16,
                softmax_parts_f16, softmax_cluster_f16,
                norm_short_f16, norm_block_f16, [norm_ahead_f16], norm_long_f16,
                norm_parts_f16, norm_cluster_f16;
            bf16: softmax_short_bf16, softmax_block_bf16, [softmax_ahead_bf16], softmax_long_bf16,
                softmax_parts_bf16, softmax_cluster_bf16,
                norm_short_bf16, norm_block_bf16, [norm_ahead_bf16], norm_long_bf16,
                norm_parts_bf16, norm_cluster_bf16;
        }
    };
}

/// The kernels of `$family`, one for each class of rows; for short ones, with the blocks of a multiprocessor for which
/// they spill no registers.
macro_rules! kernels_of_classes {
    ($family:ident at $blocks:literal blocks, $element:ident: $short:ident, $block:ident, [$($ahead:ident)?], $long:ident,
        $parts:ident, $cluster:ident, $of_parts:ident) => {
        $family!($short of $element [max_threads = 128, min_blocks = $blocks],
            "rows of up to 1024 elements",
            "blocks of 128 threads, each with [`RowPlan::rows_of_block`](super::RowPlan::rows_of_block) rows. `lanes` are the plan's.",
            |operands| operands.short::<{ VALUES / LANES }, LANES>());
        $family!($block of $element [max_threads = 1024],
            "rows of up to 32 768 elements",
            "a block of [`RowPlan::threads`](super::RowPlan::threads) threads for each row.",
            |operands| operands.block::<{ VALUES / LANES }, LANES>([
                shared_array![f32; MAX_WARPS], shared_array![f32; MAX_WARPS],
            ]));
        $($family!($ahead of $element [arch = "sm_80", max_threads = 1024],
            "rows of up to 32 768 elements, copied ahead",
            "blocks of [`RowPlan::threads`](super::RowPlan::threads) threads, at most one for each row. Rows are not \
                staged, and dynamic shared memory has room for one.",
            |operands| operands.ahead::<{ VALUES / LANES }, LANES>([
                shared_array![f32; MAX_WARPS], shared_array![f32; MAX_WARPS],
            ]));)?
        $family!($long of $element [max_threads = 1024],
            "long rows",
            "a block of 1024 threads for each row.",
            |operands| operands.long::<{ SECTION_VALUES / LANES }, LANES>([
                shared_array![f32; MAX_WARPS], shared_array![f32; MAX_WARPS],
            ]));
        $family!($parts of $element [max_threads = 1024],
            "rows of parts, one after another",
            "a block of [`RowPlan::threads`](super::RowPlan::threads) threads for each row.",
            |operands| operands.parts::<{ VALUES / LANES }, LANES>([
                shared_array![f32; MAX_WARPS], shared_array![f32; MAX_WARPS],
            ], $of_parts!()));
        $family!($cluster of $element [arch = "sm_90a", max_threads = 1024, cluster = (8, 1, 1)],
            "rows of parts, in the registers of a cluster",
            "a cluster of 8 blocks of [`RowPlan::threads`](super::RowPlan::threads) threads for each row.",
            |operands| operands.cluster::<{ VALUES / LANES }, LANES>([
                shared_array![f32; MAX_WARPS], shared_array![f32; MAX_WARPS],
            ], $of_parts!()));
    };
}

/// What the parts of a row exchange: of softmax, and of normalisation.
macro_rules! terms_of_parts {
    () => {
        shared_array![[f32; 2]; PARTS]
    };
}
macro_rules! sums_of_parts {
    () => {
        [shared_array![f32; PARTS], shared_array![f32; PARTS]]
    };
}

macro_rules! softmax_kernel {
    ($name:ident of $element:ident [$($bounds:tt)*], $rows:literal, $launch:literal,
        |$operands:ident| $run:expr) => {
        #[doc = concat!("Softmax of ", stringify!($element), ", its logarithm, the logarithm of the sum and cross \
            entropy: ", $rows, ".")]
        ///
        /// Results are written to `y` and a value for each row to `values`, unless they are empty: the logarithm of
        /// the sum of e^x, or with `targets`, the classes of the rows, the cross entropy. With classes, the results
        /// are its gradient, times the shape's scale.
        ///
        /// # Safety
        #[doc = concat!("1. The launch has ", $launch)]
        /// 2. `x` and `y` start with the first element of the first row and have all elements of `shape`'s rows. `x`
        ///    may be empty: then `y` has the elements, which the results replace. No rows of `y` share elements.
        /// 3. If rows are staged, dynamic shared memory has a vector for each thread of a block, and if the shape has
        ///    room, what a block has of a row; after it the elements that the shape keeps, in whole vectors.
        ///    Unless rows are staged, they start at multiples of 16 bytes and consist of whole vectors.
        /// 4. `targets` and `values` are empty, or have an element for each row. With `targets`, results are not
        ///    logarithms.
        #[kernel($($bounds)*)]
        pub unsafe fn $name(
            x: Global<$element>,
            y: GlobalMut<$element>,
            targets: Global<u32>,
            values: GlobalMut<f32>,
            shape: GridConstant<SoftmaxShape>,
        ) {
            const LANES: usize = lanes_of::<$element>();
            let shared = dynamic_shared![$element];
            // SAFETY: the caller's contract. Shared memory is declared here.
            unsafe {
                let $operands = Softmax::new((x, y), targets, values, &shape, shared);
                $run
            }
        }
    };
}

macro_rules! norm_kernel {
    ($name:ident of $element:ident [$($bounds:tt)*], $rows:literal, $launch:literal,
        |$operands:ident| $run:expr) => {
        #[doc = concat!("RMSNorm and LayerNorm of ", stringify!($element), ", with weight, bias and residual: ",
            $rows, ".")]
        ///
        /// # Safety
        #[doc = concat!("1. The launch has ", $launch)]
        /// 2. `x` and `y` start with the first element of the first row and have all elements of `shape`'s rows. `x`
        ///    may be empty: then `y` has the elements, which the results replace. So it is with `residual` and `sums`,
        ///    unless both are empty, without a residual. No rows of `y` and `sums` share elements.
        /// 3. If rows are staged, dynamic shared memory has a vector for each thread of a block, and if the shape has
        ///    room, what a block has of a row; after it the elements that the shape keeps, in whole vectors.
        ///    Unless rows are staged, they, `weight` and `bias` start at multiples of 16 bytes and consist of whole
        ///    vectors.
        /// 4. `weight` and `bias` are empty, or have an element for each column.
        #[allow(clippy::too_many_arguments)]
        #[kernel($($bounds)*)]
        pub unsafe fn $name(
            x: Global<$element>,
            residual: Global<$element>,
            sums: GlobalMut<$element>,
            y: GlobalMut<$element>,
            weight: Global<$element>,
            bias: Global<$element>,
            shape: GridConstant<NormShape>,
        ) {
            const LANES: usize = lanes_of::<$element>();
            let shared = dynamic_shared![$element];
            let operands = Operands { x, residual, sums, y, weight, bias };
            // SAFETY: the caller's contract. Shared memory is declared here.
            unsafe {
                let $operands = Norm::new(operands, &shape, shared);
                $run
            }
        }
    };
}

macro_rules! row_kernels {
    ($($element:ident:
        $softmax_short:ident, $softmax_block:ident, [$($softmax_ahead:ident)?], $softmax_long:ident,
        $softmax_parts:ident, $softmax_cluster:ident,
        $norm_short:ident, $norm_block:ident, [$($norm_ahead:ident)?], $norm_long:ident,
        $norm_parts:ident, $norm_cluster:ident;)*) => {$(
        kernels_of_classes!(softmax_kernel at 6 blocks, $element: $softmax_short, $softmax_block, [$($softmax_ahead)?],
            $softmax_long, $softmax_parts, $softmax_cluster, terms_of_parts);
        kernels_of_classes!(norm_kernel at 6 blocks, $element: $norm_short, $norm_block, [$($norm_ahead)?],
            $norm_long, $norm_parts, $norm_cluster, sums_of_parts);
    )*};
}
for_each_row_type!(row_kernels);

//! The table of reductions: one line for each kernel, or for two that differ only in alignment.
//!
//! These macros generate the kernels and the host's trait implementations.

/// Calls the macro `$with` with all sums: two entries, for arrays aligned to 16 bytes and for
/// others, and the types of the elements and of the sum, as `reduce_sum_f16,
/// reduce_sum_f16_unaligned: sum of f16 in f32;`.
#[macro_export]
macro_rules! for_each_sum {
    ($with:ident) => {
        $with! {
            reduce_sum_f32, reduce_sum_f32_unaligned: sum of f32 in f32;
            reduce_sum_f64, reduce_sum_f64_unaligned: sum of f64 in f64;
            reduce_sum_f16, reduce_sum_f16_unaligned: sum of f16 in f32;
            reduce_sum_bf16, reduce_sum_bf16_unaligned: sum of bf16 in f32;
            reduce_sum_i32, reduce_sum_i32_unaligned: sum of i32 in i64;
            reduce_sum_u32, reduce_sum_u32_unaligned: sum of u32 in u64;
            reduce_sum_i64, reduce_sum_i64_unaligned: sum of i64 in i64;
            reduce_sum_u64, reduce_sum_u64_unaligned: sum of u64 in u64;
        }
    };
}

/// Calls the macro `$with` with all reproducible sums: the entry, the types of the elements and of the sum, the bins
/// of a window, and the blocks per multiprocessor that need no spills, as `reduce_sum_reproducible_f64: sum of f64 in
/// f64, 3 bins, 3 blocks;`.
#[macro_export]
macro_rules! for_each_reproducible_sum {
    ($with:ident) => {
        $with! {
            reduce_sum_reproducible_f32: sum of f32 in f32, 2 bins, 4 blocks;
            reduce_sum_reproducible_f64: sum of f64 in f64, 3 bins, 3 blocks;
            reduce_sum_reproducible_f16: sum of f16 in f32, 1 bins, 2 blocks;
            reduce_sum_reproducible_bf16: sum of bf16 in f32, 2 bins, 2 blocks;
        }
    };
}

/// Calls the macro `$with` with all other reductions of one array: the entry, the operation and the
/// element type, as `reduce_min_f32: Min of f32;`.
#[macro_export]
macro_rules! for_each_reduction {
    ($with:ident) => {
        $with! {
            reduce_min_f32: Min of f32;
            reduce_min_f64: Min of f64;
            reduce_min_f16: Min of f16;
            reduce_min_bf16: Min of bf16;
            reduce_min_i32: Min of i32;
            reduce_min_u32: Min of u32;
            reduce_min_i64: Min of i64;
            reduce_min_u64: Min of u64;
            reduce_max_f32: Max of f32;
            reduce_max_f64: Max of f64;
            reduce_max_f16: Max of f16;
            reduce_max_bf16: Max of bf16;
            reduce_max_i32: Max of i32;
            reduce_max_u32: Max of u32;
            reduce_max_i64: Max of i64;
            reduce_max_u64: Max of u64;
            reduce_min_max_f32: MinMax of f32;
            reduce_min_max_f64: MinMax of f64;
            reduce_min_max_f16: MinMax of f16;
            reduce_min_max_bf16: MinMax of bf16;
            reduce_min_max_i32: MinMax of i32;
            reduce_min_max_u32: MinMax of u32;
            reduce_min_max_i64: MinMax of i64;
            reduce_min_max_u64: MinMax of u64;
            reduce_argmin_f32: ArgMin of f32;
            reduce_argmin_f64: ArgMin of f64;
            reduce_argmin_f16: ArgMin of f16;
            reduce_argmin_bf16: ArgMin of bf16;
            reduce_argmin_i32: ArgMin of i32;
            reduce_argmin_u32: ArgMin of u32;
            reduce_argmin_i64: ArgMin of i64;
            reduce_argmin_u64: ArgMin of u64;
            reduce_argmax_f32: ArgMax of f32;
            reduce_argmax_f64: ArgMax of f64;
            reduce_argmax_f16: ArgMax of f16;
            reduce_argmax_bf16: ArgMax of bf16;
            reduce_argmax_i32: ArgMax of i32;
            reduce_argmax_u32: ArgMax of u32;
            reduce_argmax_i64: ArgMax of i64;
            reduce_argmax_u64: ArgMax of u64;
            reduce_product_f32: Product of f32;
            reduce_product_f64: Product of f64;
            reduce_product_f16: Product of f16;
            reduce_product_bf16: Product of bf16;
            reduce_product_i32: Product of i32;
            reduce_product_u32: Product of u32;
            reduce_product_i64: Product of i64;
            reduce_product_u64: Product of u64;
            reduce_mean_f32: Mean of f32;
            reduce_mean_f64: Mean of f64;
            reduce_mean_f16: Mean of f16;
            reduce_mean_bf16: Mean of bf16;
            reduce_mean_i32: Mean of i32;
            reduce_mean_u32: Mean of u32;
            reduce_mean_i64: Mean of i64;
            reduce_mean_u64: Mean of u64;
            reduce_norm_1_f32: Norm1 of f32;
            reduce_norm_1_f64: Norm1 of f64;
            reduce_norm_1_f16: Norm1 of f16;
            reduce_norm_1_bf16: Norm1 of bf16;
            reduce_norm_2_f32: Norm2 of f32;
            reduce_norm_2_f64: Norm2 of f64;
            reduce_norm_2_f16: Norm2 of f16;
            reduce_norm_2_bf16: Norm2 of bf16;
            reduce_norm_inf_f32: NormInf of f32;
            reduce_norm_inf_f64: NormInf of f64;
            reduce_norm_inf_f16: NormInf of f16;
            reduce_norm_inf_bf16: NormInf of bf16;
            reduce_sum_of_squares_f32: SumOfSquares of f32;
            reduce_sum_of_squares_f64: SumOfSquares of f64;
            reduce_sum_of_squares_f16: SumOfSquares of f16;
            reduce_sum_of_squares_bf16: SumOfSquares of bf16;
            reduce_variance_f32: Variance of f32;
            reduce_variance_f64: Variance of f64;
            reduce_variance_f16: Variance of f16;
            reduce_variance_bf16: Variance of bf16;
            reduce_count: Count of u8;
            reduce_any: Any of u8;
            reduce_all: All of u8;
        }
    };
}

/// Calls the macro `$with` with all reductions of two arrays of one length, as
/// `reduce_dot_f32: Dot of f32;`.
#[macro_export]
macro_rules! for_each_pair_reduction {
    ($with:ident) => {
        $with! {
            reduce_dot_f32: Dot of f32;
            reduce_dot_f64: Dot of f64;
            reduce_dot_f16: Dot of f16;
            reduce_dot_bf16: Dot of bf16;
            reduce_dot_i32: Dot of i32;
            reduce_dot_u32: Dot of u32;
            reduce_dot_i64: Dot of i64;
            reduce_dot_u64: Dot of u64;
        }
    };
}

/// Calls the macro `$with` with all reductions of lines: the operation, the element type, and the entries for
/// contiguous lines and for contiguous neighbours, each with the blocks per multiprocessor that need no spills, as
/// `Min of f32: min_along_f32 at 4 blocks, min_across_f32 at 4 blocks;`.
///
/// The number is passed to ptxas. Without it, ptxas uses fewer registers for more blocks, and waits after every few
/// loads instead of keeping all of a thread's loads in flight.
#[macro_export]
macro_rules! for_each_line_reduction {
    ($with:ident) => {
        $with! {
            Sum of f32: sum_along_f32 at 5 blocks, sum_across_f32 at 4 blocks;
            Sum of f64: sum_along_f64 at 4 blocks, sum_across_f64 at 2 blocks;
            Sum of f16: sum_along_f16 at 4 blocks, sum_across_f16 at 4 blocks;
            Sum of bf16: sum_along_bf16 at 4 blocks, sum_across_bf16 at 4 blocks;
            Sum of i32: sum_along_i32 at 4 blocks, sum_across_i32 at 2 blocks;
            Sum of u32: sum_along_u32 at 4 blocks, sum_across_u32 at 2 blocks;
            Sum of i64: sum_along_i64 at 4 blocks, sum_across_i64 at 2 blocks;
            Sum of u64: sum_along_u64 at 4 blocks, sum_across_u64 at 2 blocks;
            Mean of f32: mean_along_f32 at 4 blocks, mean_across_f32 at 3 blocks;
            Mean of f64: mean_along_f64 at 4 blocks, mean_across_f64 at 2 blocks;
            Mean of f16: mean_along_f16 at 4 blocks, mean_across_f16 at 3 blocks;
            Mean of bf16: mean_along_bf16 at 4 blocks, mean_across_bf16 at 3 blocks;
            Mean of i32: mean_along_i32 at 4 blocks, mean_across_i32 at 3 blocks;
            Mean of u32: mean_along_u32 at 4 blocks, mean_across_u32 at 3 blocks;
            Mean of i64: mean_along_i64 at 4 blocks, mean_across_i64 at 2 blocks;
            Mean of u64: mean_along_u64 at 4 blocks, mean_across_u64 at 2 blocks;
            Min of f32: min_along_f32 at 4 blocks, min_across_f32 at 4 blocks;
            Min of f64: min_along_f64 at 4 blocks, min_across_f64 at 2 blocks;
            Min of f16: min_along_f16 at 4 blocks, min_across_f16 at 4 blocks;
            Min of bf16: min_along_bf16 at 4 blocks, min_across_bf16 at 4 blocks;
            Min of i32: min_along_i32 at 4 blocks, min_across_i32 at 4 blocks;
            Min of u32: min_along_u32 at 4 blocks, min_across_u32 at 4 blocks;
            Min of i64: min_along_i64 at 4 blocks, min_across_i64 at 3 blocks;
            Min of u64: min_along_u64 at 4 blocks, min_across_u64 at 3 blocks;
            Max of f32: max_along_f32 at 4 blocks, max_across_f32 at 4 blocks;
            Max of f64: max_along_f64 at 4 blocks, max_across_f64 at 2 blocks;
            Max of f16: max_along_f16 at 4 blocks, max_across_f16 at 4 blocks;
            Max of bf16: max_along_bf16 at 4 blocks, max_across_bf16 at 4 blocks;
            Max of i32: max_along_i32 at 4 blocks, max_across_i32 at 4 blocks;
            Max of u32: max_along_u32 at 4 blocks, max_across_u32 at 4 blocks;
            Max of i64: max_along_i64 at 4 blocks, max_across_i64 at 3 blocks;
            Max of u64: max_along_u64 at 4 blocks, max_across_u64 at 3 blocks;
            ArgMin of f32: argmin_along_f32 at 4 blocks, argmin_across_f32 at 2 blocks;
            ArgMin of f64: argmin_along_f64 at 4 blocks, argmin_across_f64 at 1 blocks;
            ArgMin of f16: argmin_along_f16 at 4 blocks, argmin_across_f16 at 2 blocks;
            ArgMin of bf16: argmin_along_bf16 at 4 blocks, argmin_across_bf16 at 2 blocks;
            ArgMin of i32: argmin_along_i32 at 4 blocks, argmin_across_i32 at 2 blocks;
            ArgMin of u32: argmin_along_u32 at 4 blocks, argmin_across_u32 at 2 blocks;
            ArgMin of i64: argmin_along_i64 at 4 blocks, argmin_across_i64 at 1 blocks;
            ArgMin of u64: argmin_along_u64 at 4 blocks, argmin_across_u64 at 1 blocks;
            ArgMax of f32: argmax_along_f32 at 4 blocks, argmax_across_f32 at 2 blocks;
            ArgMax of f64: argmax_along_f64 at 4 blocks, argmax_across_f64 at 1 blocks;
            ArgMax of f16: argmax_along_f16 at 4 blocks, argmax_across_f16 at 2 blocks;
            ArgMax of bf16: argmax_along_bf16 at 4 blocks, argmax_across_bf16 at 2 blocks;
            ArgMax of i32: argmax_along_i32 at 4 blocks, argmax_across_i32 at 2 blocks;
            ArgMax of u32: argmax_along_u32 at 4 blocks, argmax_across_u32 at 2 blocks;
            ArgMax of i64: argmax_along_i64 at 2 blocks, argmax_across_i64 at 1 blocks;
            ArgMax of u64: argmax_along_u64 at 3 blocks, argmax_across_u64 at 1 blocks;
            MinMax of f32: min_max_along_f32 at 4 blocks, min_max_across_f32 at 2 blocks;
            MinMax of f64: min_max_along_f64 at 2 blocks, min_max_across_f64 at 1 blocks;
            MinMax of f16: min_max_along_f16 at 4 blocks, min_max_across_f16 at 2 blocks;
            MinMax of bf16: min_max_along_bf16 at 4 blocks, min_max_across_bf16 at 2 blocks;
            MinMax of i32: min_max_along_i32 at 4 blocks, min_max_across_i32 at 2 blocks;
            MinMax of u32: min_max_along_u32 at 4 blocks, min_max_across_u32 at 2 blocks;
            MinMax of i64: min_max_along_i64 at 3 blocks, min_max_across_i64 at 1 blocks;
            MinMax of u64: min_max_along_u64 at 3 blocks, min_max_across_u64 at 1 blocks;
            Product of f32: product_along_f32 at 4 blocks, product_across_f32 at 3 blocks;
            Product of f64: product_along_f64 at 4 blocks, product_across_f64 at 2 blocks;
            Product of f16: product_along_f16 at 4 blocks, product_across_f16 at 3 blocks;
            Product of bf16: product_along_bf16 at 4 blocks, product_across_bf16 at 3 blocks;
            Product of i32: product_along_i32 at 4 blocks, product_across_i32 at 2 blocks;
            Product of u32: product_along_u32 at 4 blocks, product_across_u32 at 2 blocks;
            Product of i64: product_along_i64 at 4 blocks, product_across_i64 at 2 blocks;
            Product of u64: product_along_u64 at 4 blocks, product_across_u64 at 2 blocks;
            SumOfSquares of f32: sum_of_squares_along_f32 at 4 blocks, sum_of_squares_across_f32 at 2 blocks;
            SumOfSquares of f64: sum_of_squares_along_f64 at 4 blocks, sum_of_squares_across_f64 at 2 blocks;
            SumOfSquares of f16: sum_of_squares_along_f16 at 4 blocks, sum_of_squares_across_f16 at 2 blocks;
            SumOfSquares of bf16: sum_of_squares_along_bf16 at 4 blocks, sum_of_squares_across_bf16 at 2 blocks;
            Norm1 of f32: norm_1_along_f32 at 4 blocks, norm_1_across_f32 at 3 blocks;
            Norm1 of f64: norm_1_along_f64 at 4 blocks, norm_1_across_f64 at 2 blocks;
            Norm1 of f16: norm_1_along_f16 at 4 blocks, norm_1_across_f16 at 3 blocks;
            Norm1 of bf16: norm_1_along_bf16 at 4 blocks, norm_1_across_bf16 at 3 blocks;
            Norm2 of f32: norm_2_along_f32 at 4 blocks, norm_2_across_f32 at 2 blocks;
            Norm2 of f64: norm_2_along_f64 at 3 blocks, norm_2_across_f64 at 1 blocks;
            Norm2 of f16: norm_2_along_f16 at 4 blocks, norm_2_across_f16 at 2 blocks;
            Norm2 of bf16: norm_2_along_bf16 at 4 blocks, norm_2_across_bf16 at 2 blocks;
            NormInf of f32: norm_inf_along_f32 at 5 blocks, norm_inf_across_f32 at 4 blocks;
            NormInf of f64: norm_inf_along_f64 at 4 blocks, norm_inf_across_f64 at 3 blocks;
            NormInf of f16: norm_inf_along_f16 at 4 blocks, norm_inf_across_f16 at 4 blocks;
            NormInf of bf16: norm_inf_along_bf16 at 4 blocks, norm_inf_across_bf16 at 4 blocks;
            Variance of f32: variance_along_f32 at 2 blocks, variance_across_f32 at 1 blocks;
            Variance of f64: variance_along_f64 at 2 blocks, variance_across_f64 at 1 blocks;
            Variance of f16: variance_along_f16 at 2 blocks, variance_across_f16 at 1 blocks;
            Variance of bf16: variance_along_bf16 at 2 blocks, variance_across_bf16 at 1 blocks;
            Count of u8: count_along at 4 blocks, count_across at 3 blocks;
            Any of u8: any_along at 4 blocks, any_across at 4 blocks;
            All of u8: all_along at 4 blocks, all_across at 4 blocks;
        }
    };
}

/// Calls the macro `$with` with all reductions of segments: the operation, the element type, and the entry with its
/// blocks per multiprocessor, as `Min of f32: min_segments_f32 at 4 blocks;`.
#[macro_export]
macro_rules! for_each_segment_reduction {
    ($with:ident) => {
        $with! {
            Sum of f32: sum_segments_f32 at 5 blocks;
            Sum of f64: sum_segments_f64 at 3 blocks;
            Sum of f16: sum_segments_f16 at 5 blocks;
            Sum of bf16: sum_segments_bf16 at 5 blocks;
            Sum of i32: sum_segments_i32 at 4 blocks;
            Sum of u32: sum_segments_u32 at 4 blocks;
            Sum of i64: sum_segments_i64 at 3 blocks;
            Sum of u64: sum_segments_u64 at 3 blocks;
            Mean of f32: mean_segments_f32 at 4 blocks;
            Mean of f64: mean_segments_f64 at 3 blocks;
            Mean of f16: mean_segments_f16 at 4 blocks;
            Mean of bf16: mean_segments_bf16 at 4 blocks;
            Mean of i32: mean_segments_i32 at 4 blocks;
            Mean of u32: mean_segments_u32 at 4 blocks;
            Mean of i64: mean_segments_i64 at 3 blocks;
            Mean of u64: mean_segments_u64 at 3 blocks;
            Min of f32: min_segments_f32 at 4 blocks;
            Min of f64: min_segments_f64 at 3 blocks;
            Min of f16: min_segments_f16 at 5 blocks;
            Min of bf16: min_segments_bf16 at 5 blocks;
            Min of i32: min_segments_i32 at 5 blocks;
            Min of u32: min_segments_u32 at 5 blocks;
            Min of i64: min_segments_i64 at 3 blocks;
            Min of u64: min_segments_u64 at 3 blocks;
            Max of f32: max_segments_f32 at 4 blocks;
            Max of f64: max_segments_f64 at 3 blocks;
            Max of f16: max_segments_f16 at 5 blocks;
            Max of bf16: max_segments_bf16 at 5 blocks;
            Max of i32: max_segments_i32 at 5 blocks;
            Max of u32: max_segments_u32 at 5 blocks;
            Max of i64: max_segments_i64 at 3 blocks;
            Max of u64: max_segments_u64 at 3 blocks;
            ArgMin of f32: argmin_segments_f32 at 3 blocks;
            ArgMin of f64: argmin_segments_f64 at 2 blocks;
            ArgMin of f16: argmin_segments_f16 at 3 blocks;
            ArgMin of bf16: argmin_segments_bf16 at 3 blocks;
            ArgMin of i32: argmin_segments_i32 at 3 blocks;
            ArgMin of u32: argmin_segments_u32 at 3 blocks;
            ArgMin of i64: argmin_segments_i64 at 2 blocks;
            ArgMin of u64: argmin_segments_u64 at 2 blocks;
            ArgMax of f32: argmax_segments_f32 at 3 blocks;
            ArgMax of f64: argmax_segments_f64 at 2 blocks;
            ArgMax of f16: argmax_segments_f16 at 3 blocks;
            ArgMax of bf16: argmax_segments_bf16 at 3 blocks;
            ArgMax of i32: argmax_segments_i32 at 3 blocks;
            ArgMax of u32: argmax_segments_u32 at 3 blocks;
            ArgMax of i64: argmax_segments_i64 at 2 blocks;
            ArgMax of u64: argmax_segments_u64 at 2 blocks;
            MinMax of f32: min_max_segments_f32 at 4 blocks;
            MinMax of f64: min_max_segments_f64 at 2 blocks;
            MinMax of f16: min_max_segments_f16 at 4 blocks;
            MinMax of bf16: min_max_segments_bf16 at 4 blocks;
            MinMax of i32: min_max_segments_i32 at 4 blocks;
            MinMax of u32: min_max_segments_u32 at 4 blocks;
            MinMax of i64: min_max_segments_i64 at 2 blocks;
            MinMax of u64: min_max_segments_u64 at 2 blocks;
            Product of f32: product_segments_f32 at 4 blocks;
            Product of f64: product_segments_f64 at 3 blocks;
            Product of f16: product_segments_f16 at 4 blocks;
            Product of bf16: product_segments_bf16 at 4 blocks;
            Product of i32: product_segments_i32 at 4 blocks;
            Product of u32: product_segments_u32 at 4 blocks;
            Product of i64: product_segments_i64 at 3 blocks;
            Product of u64: product_segments_u64 at 3 blocks;
            SumOfSquares of f32: sum_of_squares_segments_f32 at 4 blocks;
            SumOfSquares of f64: sum_of_squares_segments_f64 at 3 blocks;
            SumOfSquares of f16: sum_of_squares_segments_f16 at 4 blocks;
            SumOfSquares of bf16: sum_of_squares_segments_bf16 at 4 blocks;
            Norm1 of f32: norm_1_segments_f32 at 4 blocks;
            Norm1 of f64: norm_1_segments_f64 at 3 blocks;
            Norm1 of f16: norm_1_segments_f16 at 4 blocks;
            Norm1 of bf16: norm_1_segments_bf16 at 4 blocks;
            Norm2 of f32: norm_2_segments_f32 at 4 blocks;
            Norm2 of f64: norm_2_segments_f64 at 3 blocks;
            Norm2 of f16: norm_2_segments_f16 at 4 blocks;
            Norm2 of bf16: norm_2_segments_bf16 at 4 blocks;
            NormInf of f32: norm_inf_segments_f32 at 5 blocks;
            NormInf of f64: norm_inf_segments_f64 at 3 blocks;
            NormInf of f16: norm_inf_segments_f16 at 5 blocks;
            NormInf of bf16: norm_inf_segments_bf16 at 5 blocks;
            Variance of f32: variance_segments_f32 at 2 blocks;
            Variance of f64: variance_segments_f64 at 2 blocks;
            Variance of f16: variance_segments_f16 at 2 blocks;
            Variance of bf16: variance_segments_bf16 at 2 blocks;
            Count of u8: count_segments at 5 blocks;
            Any of u8: any_segments at 5 blocks;
            All of u8: all_segments at 5 blocks;
        }
    };
}

/// [`for_each_line_reduction!`](crate::for_each_line_reduction) for lines of two matrices.
#[macro_export]
macro_rules! for_each_pair_line_reduction {
    ($with:ident) => {
        $with! {
            Dot of f32: dot_along_f32 at 3 blocks, dot_across_f32 at 2 blocks;
            Dot of f64: dot_along_f64 at 2 blocks, dot_across_f64 at 1 blocks;
            Dot of f16: dot_along_f16 at 3 blocks, dot_across_f16 at 2 blocks;
            Dot of bf16: dot_along_bf16 at 2 blocks, dot_across_bf16 at 2 blocks;
            Dot of i32: dot_along_i32 at 3 blocks, dot_across_i32 at 2 blocks;
            Dot of u32: dot_along_u32 at 3 blocks, dot_across_u32 at 2 blocks;
            Dot of i64: dot_along_i64 at 2 blocks, dot_across_i64 at 1 blocks;
            Dot of u64: dot_along_u64 at 2 blocks, dot_across_u64 at 1 blocks;
        }
    };
}

/// [`for_each_segment_reduction!`](crate::for_each_segment_reduction) for segments of two arrays.
#[macro_export]
macro_rules! for_each_pair_segment_reduction {
    ($with:ident) => {
        $with! {
            Dot of f32: dot_segments_f32 at 3 blocks;
            Dot of f64: dot_segments_f64 at 2 blocks;
            Dot of f16: dot_segments_f16 at 3 blocks;
            Dot of bf16: dot_segments_bf16 at 2 blocks;
            Dot of i32: dot_segments_i32 at 3 blocks;
            Dot of u32: dot_segments_u32 at 3 blocks;
            Dot of i64: dot_segments_i64 at 2 blocks;
            Dot of u64: dot_segments_u64 at 2 blocks;
        }
    };
}

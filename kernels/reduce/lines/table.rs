//! The tables of reductions of lines and segments, like `table.rs` for whole arrays.

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
            Sum of i8: sum_along_i8 at 4 blocks, sum_across_i8 at 2 blocks;
            Sum of u8: sum_along_u8 at 4 blocks, sum_across_u8 at 2 blocks;
            Sum of i16: sum_along_i16 at 4 blocks, sum_across_i16 at 2 blocks;
            Sum of u16: sum_along_u16 at 4 blocks, sum_across_u16 at 2 blocks;
            Sum of i32: sum_along_i32 at 4 blocks, sum_across_i32 at 2 blocks;
            Sum of u32: sum_along_u32 at 4 blocks, sum_across_u32 at 2 blocks;
            Sum of i64: sum_along_i64 at 4 blocks, sum_across_i64 at 2 blocks;
            Sum of u64: sum_along_u64 at 4 blocks, sum_across_u64 at 2 blocks;
            Mean of f32: mean_along_f32 at 4 blocks, mean_across_f32 at 3 blocks;
            Mean of f64: mean_along_f64 at 4 blocks, mean_across_f64 at 2 blocks;
            Mean of f16: mean_along_f16 at 4 blocks, mean_across_f16 at 3 blocks;
            Mean of bf16: mean_along_bf16 at 4 blocks, mean_across_bf16 at 3 blocks;
            Mean of i8: mean_along_i8 at 4 blocks, mean_across_i8 at 3 blocks;
            Mean of u8: mean_along_u8 at 4 blocks, mean_across_u8 at 3 blocks;
            Mean of i16: mean_along_i16 at 4 blocks, mean_across_i16 at 3 blocks;
            Mean of u16: mean_along_u16 at 4 blocks, mean_across_u16 at 3 blocks;
            Mean of i32: mean_along_i32 at 4 blocks, mean_across_i32 at 3 blocks;
            Mean of u32: mean_along_u32 at 4 blocks, mean_across_u32 at 3 blocks;
            Mean of i64: mean_along_i64 at 4 blocks, mean_across_i64 at 2 blocks;
            Mean of u64: mean_along_u64 at 4 blocks, mean_across_u64 at 2 blocks;
            Min of f32: min_along_f32 at 4 blocks, min_across_f32 at 4 blocks;
            Min of f64: min_along_f64 at 4 blocks, min_across_f64 at 2 blocks;
            Min of f16: min_along_f16 at 4 blocks, min_across_f16 at 4 blocks;
            Min of bf16: min_along_bf16 at 4 blocks, min_across_bf16 at 4 blocks;
            Min of i8: min_along_i8 at 4 blocks, min_across_i8 at 4 blocks;
            Min of u8: min_along_u8 at 4 blocks, min_across_u8 at 4 blocks;
            Min of i16: min_along_i16 at 4 blocks, min_across_i16 at 4 blocks;
            Min of u16: min_along_u16 at 4 blocks, min_across_u16 at 4 blocks;
            Min of i32: min_along_i32 at 4 blocks, min_across_i32 at 4 blocks;
            Min of u32: min_along_u32 at 4 blocks, min_across_u32 at 4 blocks;
            Min of i64: min_along_i64 at 4 blocks, min_across_i64 at 3 blocks;
            Min of u64: min_along_u64 at 4 blocks, min_across_u64 at 3 blocks;
            Max of f32: max_along_f32 at 4 blocks, max_across_f32 at 4 blocks;
            Max of f64: max_along_f64 at 4 blocks, max_across_f64 at 2 blocks;
            Max of f16: max_along_f16 at 4 blocks, max_across_f16 at 4 blocks;
            Max of bf16: max_along_bf16 at 4 blocks, max_across_bf16 at 4 blocks;
            Max of i8: max_along_i8 at 4 blocks, max_across_i8 at 4 blocks;
            Max of u8: max_along_u8 at 4 blocks, max_across_u8 at 4 blocks;
            Max of i16: max_along_i16 at 4 blocks, max_across_i16 at 4 blocks;
            Max of u16: max_along_u16 at 4 blocks, max_across_u16 at 4 blocks;
            Max of i32: max_along_i32 at 4 blocks, max_across_i32 at 4 blocks;
            Max of u32: max_along_u32 at 4 blocks, max_across_u32 at 4 blocks;
            Max of i64: max_along_i64 at 4 blocks, max_across_i64 at 3 blocks;
            Max of u64: max_along_u64 at 4 blocks, max_across_u64 at 3 blocks;
            ArgMin of f32: argmin_along_f32 at 4 blocks, argmin_across_f32 at 2 blocks;
            ArgMin of f64: argmin_along_f64 at 4 blocks, argmin_across_f64 at 1 blocks;
            ArgMin of f16: argmin_along_f16 at 4 blocks, argmin_across_f16 at 2 blocks;
            ArgMin of bf16: argmin_along_bf16 at 4 blocks, argmin_across_bf16 at 2 blocks;
            ArgMin of i8: argmin_along_i8 at 2 blocks, argmin_across_i8 at 2 blocks;
            ArgMin of u8: argmin_along_u8 at 2 blocks, argmin_across_u8 at 2 blocks;
            ArgMin of i16: argmin_along_i16 at 4 blocks, argmin_across_i16 at 2 blocks;
            ArgMin of u16: argmin_along_u16 at 4 blocks, argmin_across_u16 at 2 blocks;
            ArgMin of i32: argmin_along_i32 at 4 blocks, argmin_across_i32 at 2 blocks;
            ArgMin of u32: argmin_along_u32 at 4 blocks, argmin_across_u32 at 2 blocks;
            ArgMin of i64: argmin_along_i64 at 4 blocks, argmin_across_i64 at 1 blocks;
            ArgMin of u64: argmin_along_u64 at 4 blocks, argmin_across_u64 at 1 blocks;
            ArgMax of f32: argmax_along_f32 at 4 blocks, argmax_across_f32 at 2 blocks;
            ArgMax of f64: argmax_along_f64 at 4 blocks, argmax_across_f64 at 1 blocks;
            ArgMax of f16: argmax_along_f16 at 4 blocks, argmax_across_f16 at 2 blocks;
            ArgMax of bf16: argmax_along_bf16 at 4 blocks, argmax_across_bf16 at 2 blocks;
            ArgMax of i8: argmax_along_i8 at 2 blocks, argmax_across_i8 at 2 blocks;
            ArgMax of u8: argmax_along_u8 at 2 blocks, argmax_across_u8 at 2 blocks;
            ArgMax of i16: argmax_along_i16 at 4 blocks, argmax_across_i16 at 2 blocks;
            ArgMax of u16: argmax_along_u16 at 4 blocks, argmax_across_u16 at 2 blocks;
            ArgMax of i32: argmax_along_i32 at 4 blocks, argmax_across_i32 at 2 blocks;
            ArgMax of u32: argmax_along_u32 at 4 blocks, argmax_across_u32 at 2 blocks;
            ArgMax of i64: argmax_along_i64 at 2 blocks, argmax_across_i64 at 1 blocks;
            ArgMax of u64: argmax_along_u64 at 3 blocks, argmax_across_u64 at 1 blocks;
            MinMax of f32: min_max_along_f32 at 4 blocks, min_max_across_f32 at 2 blocks;
            MinMax of f64: min_max_along_f64 at 2 blocks, min_max_across_f64 at 1 blocks;
            MinMax of f16: min_max_along_f16 at 4 blocks, min_max_across_f16 at 2 blocks;
            MinMax of bf16: min_max_along_bf16 at 4 blocks, min_max_across_bf16 at 2 blocks;
            MinMax of i8: min_max_along_i8 at 4 blocks, min_max_across_i8 at 2 blocks;
            MinMax of u8: min_max_along_u8 at 4 blocks, min_max_across_u8 at 2 blocks;
            MinMax of i16: min_max_along_i16 at 4 blocks, min_max_across_i16 at 2 blocks;
            MinMax of u16: min_max_along_u16 at 4 blocks, min_max_across_u16 at 2 blocks;
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
            Sum of i8: sum_segments_i8 at 4 blocks;
            Sum of u8: sum_segments_u8 at 4 blocks;
            Sum of i16: sum_segments_i16 at 4 blocks;
            Sum of u16: sum_segments_u16 at 4 blocks;
            Sum of i32: sum_segments_i32 at 4 blocks;
            Sum of u32: sum_segments_u32 at 4 blocks;
            Sum of i64: sum_segments_i64 at 3 blocks;
            Sum of u64: sum_segments_u64 at 3 blocks;
            Mean of f32: mean_segments_f32 at 4 blocks;
            Mean of f64: mean_segments_f64 at 3 blocks;
            Mean of f16: mean_segments_f16 at 4 blocks;
            Mean of bf16: mean_segments_bf16 at 4 blocks;
            Mean of i8: mean_segments_i8 at 4 blocks;
            Mean of u8: mean_segments_u8 at 4 blocks;
            Mean of i16: mean_segments_i16 at 4 blocks;
            Mean of u16: mean_segments_u16 at 4 blocks;
            Mean of i32: mean_segments_i32 at 4 blocks;
            Mean of u32: mean_segments_u32 at 4 blocks;
            Mean of i64: mean_segments_i64 at 3 blocks;
            Mean of u64: mean_segments_u64 at 3 blocks;
            Min of f32: min_segments_f32 at 4 blocks;
            Min of f64: min_segments_f64 at 3 blocks;
            Min of f16: min_segments_f16 at 5 blocks;
            Min of bf16: min_segments_bf16 at 5 blocks;
            Min of i8: min_segments_i8 at 5 blocks;
            Min of u8: min_segments_u8 at 5 blocks;
            Min of i16: min_segments_i16 at 5 blocks;
            Min of u16: min_segments_u16 at 5 blocks;
            Min of i32: min_segments_i32 at 5 blocks;
            Min of u32: min_segments_u32 at 5 blocks;
            Min of i64: min_segments_i64 at 3 blocks;
            Min of u64: min_segments_u64 at 3 blocks;
            Max of f32: max_segments_f32 at 4 blocks;
            Max of f64: max_segments_f64 at 3 blocks;
            Max of f16: max_segments_f16 at 5 blocks;
            Max of bf16: max_segments_bf16 at 5 blocks;
            Max of i8: max_segments_i8 at 5 blocks;
            Max of u8: max_segments_u8 at 5 blocks;
            Max of i16: max_segments_i16 at 5 blocks;
            Max of u16: max_segments_u16 at 5 blocks;
            Max of i32: max_segments_i32 at 5 blocks;
            Max of u32: max_segments_u32 at 5 blocks;
            Max of i64: max_segments_i64 at 3 blocks;
            Max of u64: max_segments_u64 at 3 blocks;
            ArgMin of f32: argmin_segments_f32 at 3 blocks;
            ArgMin of f64: argmin_segments_f64 at 2 blocks;
            ArgMin of f16: argmin_segments_f16 at 3 blocks;
            ArgMin of bf16: argmin_segments_bf16 at 3 blocks;
            ArgMin of i8: argmin_segments_i8 at 3 blocks;
            ArgMin of u8: argmin_segments_u8 at 3 blocks;
            ArgMin of i16: argmin_segments_i16 at 3 blocks;
            ArgMin of u16: argmin_segments_u16 at 3 blocks;
            ArgMin of i32: argmin_segments_i32 at 3 blocks;
            ArgMin of u32: argmin_segments_u32 at 3 blocks;
            ArgMin of i64: argmin_segments_i64 at 2 blocks;
            ArgMin of u64: argmin_segments_u64 at 2 blocks;
            ArgMax of f32: argmax_segments_f32 at 3 blocks;
            ArgMax of f64: argmax_segments_f64 at 2 blocks;
            ArgMax of f16: argmax_segments_f16 at 3 blocks;
            ArgMax of bf16: argmax_segments_bf16 at 3 blocks;
            ArgMax of i8: argmax_segments_i8 at 3 blocks;
            ArgMax of u8: argmax_segments_u8 at 3 blocks;
            ArgMax of i16: argmax_segments_i16 at 3 blocks;
            ArgMax of u16: argmax_segments_u16 at 3 blocks;
            ArgMax of i32: argmax_segments_i32 at 3 blocks;
            ArgMax of u32: argmax_segments_u32 at 3 blocks;
            ArgMax of i64: argmax_segments_i64 at 2 blocks;
            ArgMax of u64: argmax_segments_u64 at 2 blocks;
            MinMax of f32: min_max_segments_f32 at 4 blocks;
            MinMax of f64: min_max_segments_f64 at 2 blocks;
            MinMax of f16: min_max_segments_f16 at 4 blocks;
            MinMax of bf16: min_max_segments_bf16 at 4 blocks;
            MinMax of i8: min_max_segments_i8 at 4 blocks;
            MinMax of u8: min_max_segments_u8 at 4 blocks;
            MinMax of i16: min_max_segments_i16 at 4 blocks;
            MinMax of u16: min_max_segments_u16 at 4 blocks;
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

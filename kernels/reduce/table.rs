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
            reduce_sum_i8, reduce_sum_i8_unaligned: sum of i8 in i64;
            reduce_sum_u8, reduce_sum_u8_unaligned: sum of u8 in u64;
            reduce_sum_i16, reduce_sum_i16_unaligned: sum of i16 in i64;
            reduce_sum_u16, reduce_sum_u16_unaligned: sum of u16 in u64;
            reduce_sum_i32, reduce_sum_i32_unaligned: sum of i32 in i64;
            reduce_sum_u32, reduce_sum_u32_unaligned: sum of u32 in u64;
            reduce_sum_i64, reduce_sum_i64_unaligned: sum of i64 in i64;
            reduce_sum_u64, reduce_sum_u64_unaligned: sum of u64 in u64;
        }
    };
}

/// Calls the macro `$with` with all reproducible sums: the entry, the types of the elements and of the sum, the bins
/// of a window, and the blocks per multiprocessor that need no spills in the loop, as
/// `reduce_sum_reproducible_f64: sum of f64 in f64, 3 bins, 3 blocks;`.
#[macro_export]
macro_rules! for_each_reproducible_sum {
    ($with:ident) => {
        $with! {
            reduce_sum_reproducible_f32: sum of f32 in f32, 2 bins, 4 blocks;
            reduce_sum_reproducible_f64: sum of f64 in f64, 3 bins, 3 blocks;
            reduce_sum_reproducible_f16: sum of f16 in f32, 1 bins, 3 blocks;
            reduce_sum_reproducible_bf16: sum of bf16 in f32, 2 bins, 4 blocks;
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
            reduce_min_i8: Min of i8;
            reduce_min_u8: Min of u8;
            reduce_min_i16: Min of i16;
            reduce_min_u16: Min of u16;
            reduce_min_i32: Min of i32;
            reduce_min_u32: Min of u32;
            reduce_min_i64: Min of i64;
            reduce_min_u64: Min of u64;
            reduce_max_f32: Max of f32;
            reduce_max_f64: Max of f64;
            reduce_max_f16: Max of f16;
            reduce_max_bf16: Max of bf16;
            reduce_max_i8: Max of i8;
            reduce_max_u8: Max of u8;
            reduce_max_i16: Max of i16;
            reduce_max_u16: Max of u16;
            reduce_max_i32: Max of i32;
            reduce_max_u32: Max of u32;
            reduce_max_i64: Max of i64;
            reduce_max_u64: Max of u64;
            reduce_min_max_f32: MinMax of f32;
            reduce_min_max_f64: MinMax of f64;
            reduce_min_max_f16: MinMax of f16;
            reduce_min_max_bf16: MinMax of bf16;
            reduce_min_max_i8: MinMax of i8;
            reduce_min_max_u8: MinMax of u8;
            reduce_min_max_i16: MinMax of i16;
            reduce_min_max_u16: MinMax of u16;
            reduce_min_max_i32: MinMax of i32;
            reduce_min_max_u32: MinMax of u32;
            reduce_min_max_i64: MinMax of i64;
            reduce_min_max_u64: MinMax of u64;
            reduce_argmin_f32: ArgMin of f32;
            reduce_argmin_f64: ArgMin of f64;
            reduce_argmin_f16: ArgMin of f16;
            reduce_argmin_bf16: ArgMin of bf16;
            reduce_argmin_i8: ArgMin of i8;
            reduce_argmin_u8: ArgMin of u8;
            reduce_argmin_i16: ArgMin of i16;
            reduce_argmin_u16: ArgMin of u16;
            reduce_argmin_i32: ArgMin of i32;
            reduce_argmin_u32: ArgMin of u32;
            reduce_argmin_i64: ArgMin of i64;
            reduce_argmin_u64: ArgMin of u64;
            reduce_argmax_f32: ArgMax of f32;
            reduce_argmax_f64: ArgMax of f64;
            reduce_argmax_f16: ArgMax of f16;
            reduce_argmax_bf16: ArgMax of bf16;
            reduce_argmax_i8: ArgMax of i8;
            reduce_argmax_u8: ArgMax of u8;
            reduce_argmax_i16: ArgMax of i16;
            reduce_argmax_u16: ArgMax of u16;
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
            reduce_mean_i8: Mean of i8;
            reduce_mean_u8: Mean of u8;
            reduce_mean_i16: Mean of i16;
            reduce_mean_u16: Mean of u16;
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

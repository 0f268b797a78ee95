//! Which reductions there are: one line for each kernel.

/// Calls the macro `$with` with all reductions: the names of two entries, for arrays that start at a
/// multiple of 16 bytes and for others, the operation, and the types of the elements, the accumulators
/// and the result, as `reduce_sum_f16, reduce_sum_f16_unaligned: Sum of f16 in f32 gives f32;`.
///
/// The kernels, and the host's implementations of its traits, are made of this table.
#[macro_export]
macro_rules! for_each_reduction {
    ($with:ident) => {
        $with! {
            reduce_sum_f32, reduce_sum_f32_unaligned: Sum of f32 in f32 gives f32;
            reduce_sum_f64, reduce_sum_f64_unaligned: Sum of f64 in f64 gives f64;
            reduce_sum_f16, reduce_sum_f16_unaligned: Sum of f16 in f32 gives f32;
            reduce_sum_bf16, reduce_sum_bf16_unaligned: Sum of bf16 in f32 gives f32;
            reduce_sum_i32, reduce_sum_i32_unaligned: Sum of i32 in i64 gives i64;
            reduce_sum_u32, reduce_sum_u32_unaligned: Sum of u32 in u64 gives u64;
            reduce_sum_i64, reduce_sum_i64_unaligned: Sum of i64 in i64 gives i64;
            reduce_sum_u64, reduce_sum_u64_unaligned: Sum of u64 in u64 gives u64;
        }
    };
}

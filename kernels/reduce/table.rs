//! Which reductions there are: one line for each kernel.

/// Calls the macro `$with` with all reductions: an entry's name, the operation, and the types of the
/// elements, the accumulators and the result, as
/// `reduce_sum_f16: Sum of f16 in f32 gives f32;`.
///
/// The kernels, and the host's implementations of its traits, are made of this table.
#[macro_export]
macro_rules! for_each_reduction {
    ($with:ident) => {
        $with! {
            reduce_sum_f32: Sum of f32 in f32 gives f32;
            reduce_sum_f64: Sum of f64 in f64 gives f64;
            reduce_sum_f16: Sum of f16 in f32 gives f32;
            reduce_sum_bf16: Sum of bf16 in f32 gives f32;
            reduce_sum_i32: Sum of i32 in i64 gives i64;
            reduce_sum_u32: Sum of u32 in u64 gives u64;
            reduce_sum_i64: Sum of i64 in i64 gives i64;
            reduce_sum_u64: Sum of u64 in u64 gives u64;
        }
    };
}

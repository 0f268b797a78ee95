//! Sums of all elements of an array.

mod accumulate;
mod plan;
mod sum;

pub use accumulate::{Accumulator, Summand};
pub use plan::{BLOCK_THREADS, MAX_BLOCKS, Plan, VECTORS_IN_FLIGHT};
pub use sum::{
    reduce_sum_bf16, reduce_sum_f16, reduce_sum_f32, reduce_sum_f64, reduce_sum_i32,
    reduce_sum_i64, reduce_sum_u32, reduce_sum_u64,
};

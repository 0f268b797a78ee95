//! Reductions over a block.

use crate::put;
use cuda_std::block::ReduceScratch;
use cuda_std::prelude::*;
use cuda_std::warp::LaneValue;

/// Writes the block's sum and largest value, from each thread of the first warp.
///
/// # Safety
/// 1. Blocks are whole warps; `x` has an element for each thread, `out` 2 for each thread of the
///    first warps of all blocks, block after block.
/// 2. `scratch` belongs to the block.
#[inline(always)]
unsafe fn reduce<T: LaneValue + PartialOrd + core::ops::Add<Output = T>>(
    lowest: T,
    x: Global<T>,
    out: GlobalMut<T>,
    scratch: ReduceScratch<T>,
) {
    // SAFETY: the length is the caller's contract.
    let value = unsafe { x.load(thread::unique_index().get()) };
    // SAFETY: blocks are whole warps, and `scratch` is the block's own: the caller's contract. A
    // barrier separates the two uses.
    let sum = unsafe { block::reduce_sum(value, scratch) };
    thread::sync_threads();
    // SAFETY: as above; nothing uses `scratch` afterwards.
    let largest =
        unsafe { block::reduce(value, lowest, scratch, |a, b| if a > b { a } else { b }) };
    if warp::warp_in_block() == 0 {
        let place = thread::block_rank() as usize * warp::width() as usize + warp::lane() as usize;
        // SAFETY: the elements belong to this lane of this block.
        unsafe {
            put(out, place * 2, sum);
            put(out, place * 2 + 1, largest);
        }
    }
}

macro_rules! reduce_kernels {
    ($($name:ident: $element:ty, $lowest:expr;)*) => {$(
        #[doc = concat!("The sum and the largest of each block's ", stringify!($element), ".")]
        ///
        /// # Safety
        /// 1. Blocks are whole warps; `x` has an element for each thread, `out` 2 for each thread
        ///    of the first warps of all blocks.
        #[kernel(max_threads = 1024)]
        pub unsafe fn $name(x: Global<$element>, out: GlobalMut<$element>) {
            let scratch = shared_array![$element; block::MAX_WARPS];
            // SAFETY: the launch and the lengths are the caller's contract. The array is declared
            // here, so it is the block's own.
            unsafe { reduce($lowest, x, out, scratch) }
        }
    )*};
}
reduce_kernels! {
    block_reduce_i32: i32, i32::MIN;
    block_reduce_f32: f32, f32::NEG_INFINITY;
    block_reduce_u64: u64, 0;
    block_reduce_f64: f64, f64::NEG_INFINITY;
}

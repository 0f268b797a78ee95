//! Operations of a whole block.

use crate::shared::SharedArray;
use crate::thread::{rank_in_block, sync_threads};
use crate::warp::{self, Exchange, LaneValue};

/// The most warps a block can have: 1024 threads in warps of 32.
pub const MAX_WARPS: usize = 32;

/// Shared memory for one block-wide reduction: `shared_array![T; block::MAX_WARPS]`.
pub type ReduceScratch<'block, T> = SharedArray<'block, T, MAX_WARPS>;

/// Sums `value` over the block. Every thread of the first warp gets the sum; other threads get an unspecified partial
/// sum.
///
/// Each warp adds by [`warp::reduce_sum`]; the first warp adds the warps' sums the same way. The addition tree
/// depends on the block's size alone. Its height is log2(warp width) + log2(warps), each rounded up.
///
/// Block size: any multiple of the warp's width, in one to three dimensions. Every thread of the
/// block must call it.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// The sum of each block's part of `x`.
/// ///
/// /// # Safety
/// /// 1. The block's size is a multiple of the warp's width, and `sums` has an element for each block.
/// #[kernel]
/// pub unsafe fn sums_of_blocks(x: Global<f32>, sums: GlobalMut<f32>) {
///     let scratch = shared_array![f32; block::MAX_WARPS];
///     let value = x.get(thread::unique_index().get()).unwrap_or(0.0);
///     // SAFETY: the block's size is a multiple of the warp's width: the caller's contract. Nothing else uses the
///     // scratch.
///     let sum = unsafe { block::reduce_sum(value, scratch) };
///     if thread::rank_in_block() == 0 {
///         // SAFETY: the element exists: the caller's contract. Only this thread writes it.
///         unsafe { sums.store(thread::block_rank() as usize, sum) };
///     }
/// }
/// ```
///
/// # Safety
/// 1. The block's size is a multiple of [`warp::width`]: the shuffles name every lane.
/// 2. Nothing else touches `scratch` until every thread has returned from here and a further
///    [`sync_threads`] has been passed.
#[inline(always)]
#[track_caller]
#[must_use]
pub unsafe fn reduce_sum<T>(value: T, scratch: ReduceScratch<T>) -> T
where
    T: LaneValue + core::ops::Add<Output = T>,
{
    // SAFETY: the block's size and the use of `scratch`: the caller's contract.
    unsafe { reduce(value, T::zeroed(), scratch, |a, b| a + b) }
}

/// [`reduce_sum`] for any commutative and associative `combine` with its neutral element.
///
/// # Safety
/// As for [`reduce_sum`].
#[inline(always)]
#[track_caller]
#[must_use]
pub unsafe fn reduce<T: Exchange>(
    value: T,
    neutral: T,
    scratch: ReduceScratch<T>,
    combine: impl Fn(T, T) -> T,
) -> T {
    let warp = rank_in_block() / warp::width();
    let warps = crate::thread::block_size() / warp::width();
    let of_warp = warp::reduce(value, &combine);
    if warp::lane() == 0 {
        // SAFETY: `warp < MAX_WARPS`: no block has more warps. One lane of one warp writes each
        // element.
        unsafe { scratch.store(warp as usize, of_warp) };
    }
    sync_threads();
    if warp != 0 {
        return of_warp;
    }
    let lane = warp::lane();
    let of_lane = if lane < warps {
        // SAFETY: the index is below `warps`. Each warp wrote its element before the barrier above.
        unsafe { scratch.load(lane as usize) }
    } else {
        neutral
    };
    warp::reduce(of_lane, combine)
}

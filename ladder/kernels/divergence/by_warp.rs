//! The branch by warp: two warps exchange halves, so that each warp has one path.
//!
//! ```text
//! of the elements of two neighbouring warps:
//!     the first warp has the first halves of both: grow
//!     the second warp has the second halves of both: wander
//! ```
//!
//! Step: the same elements take the same paths, in other threads. A warp requests two runs of half
//! the length instead of one run. The number of sectors is the same, since a half is 64 bytes.
//!
//! Prediction: half the time, because arithmetic is the limit and each warp does half of it.

use super::paths::{grow, wander};
use cuda_std::prelude::*;

/// Writes the result of each element's path. Elements past the end of `x` or `y` are skipped.
///
/// # Safety
/// 1. The launch has one dimension, and blocks of an even number of warps.
#[kernel(max_threads = 1024)]
pub unsafe fn divergence_by_warp(x: Global<f32>, y: GlobalMut<f32>) {
    let (warp, lane) = (warp::warp_in_block(), warp::lane());
    let (width, half) = (warp::width(), warp::width() / 2);
    let of_block = thread::block_idx_x() as usize * thread::block_dim_x() as usize;
    let of_pair = warp / 2 * 2 * width;
    let is_second = warp % 2;
    let in_pair = lane / half * width + is_second * half + lane % half;
    let index = of_block + (of_pair + in_pair) as usize;
    if let Some(value) = x.get(index)
        && index < y.len()
    {
        // Each path writes its own result, so that lanes do not reconverge earlier.
        if is_second == 0 {
            // SAFETY: the index was compared with the length. A pair of warps exchanges its
            // elements one to one, because blocks have an even number of warps: the caller's
            // contract.
            unsafe { y.store(index, grow(value)) };
        } else {
            // SAFETY: as above.
            unsafe { y.store(index, wander(value)) };
        }
    }
}

//! A kernel that the library lacks: the softmax of each row of a matrix.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]
#![deny(missing_docs)]

use cuda_std::math;
use cuda_std::prelude::*;

/// The largest number of threads in a block of [`softmax_rows`].
pub const MAX_THREADS: u32 = 256;

/// Replaces each row of `x` by its softmax, `exp(x - max) / sum(exp(x - max))`.
///
/// Each row has a warp. Each lane has the columns whose index modulo the warp's width is its number.
#[kernel(max_threads = 256)]
pub fn softmax_rows(x: GlobalMatrixMut<f32>) {
    let warps_of_block = thread::block_size().div_ceil(warp::width());
    let warp_in_grid =
        thread::block_rank() * u64::from(warps_of_block) + u64::from(warp::warp_in_block());
    let row = warp_in_grid as usize;
    if row >= x.rows() {
        return;
    }
    let mut greatest = f32::NEG_INFINITY;
    for_own_columns(x, |column| {
        // SAFETY: the element is in the matrix: the row was compared, and the column is one of the matrix. No race:
        // no other warp has the row, and no other lane the column.
        greatest = math::max(greatest, unsafe { x.load(row, column) });
    });
    let greatest = warp::reduce(greatest, math::max);

    let mut sum = 0.0;
    for_own_columns(x, |column| {
        // SAFETY: the element is in the matrix, and no other lane has it, as above.
        sum += math::exp(unsafe { x.load(row, column) } - greatest);
    });
    let sum = warp::reduce_sum(sum);

    for_own_columns(x, |column| {
        // SAFETY: the element is in the matrix, and no other lane has it, as above.
        unsafe { x.store(row, column, math::exp(x.load(row, column) - greatest) / sum) };
    });
}

/// Calls `action` with the columns that belong to the calling lane.
#[inline(always)]
fn for_own_columns(x: GlobalMatrixMut<f32>, mut action: impl FnMut(usize)) {
    let mut column = warp::lane() as usize;
    while column < x.cols() {
        action(column);
        column += warp::width() as usize;
    }
}

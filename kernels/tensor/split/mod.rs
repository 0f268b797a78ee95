//! Splits f32 matrices into halves that tensor cores multiply.
//!
//! A *line* is a row of A or a column of B. It is scaled by one power of two, so that its largest element is in
//! [2^14, 2^15). Each element x becomes hi + 2^-11 lo:
//!
//! ```text
//! hi = x rounded to f16         |x - hi| <= 2^-11 |x|
//! lo = 2^11 (x - hi) rounded    |x - hi - 2^-11 lo| <= 2^-23 |x|, or 2^-36 if x is small
//! ```
//!
//! That is as accurate as f32 if the elements of a line are not too far apart. A line with infinities, NaN or elements
//! too far apart is outside the split's range, and with it all [`PANEL`] lines of its panel. The CUDA
//! cores compute their outputs ([`RangeWords`]).
//!
//! The two halves and the factor 2^11 are from Ootomo, Yokota: Recovering single precision accuracy from Tensor Cores
//! while surpassing the FP32 theoretical peak performance, 2022.

#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
mod at_once;
pub(crate) mod halves;
pub(crate) mod lines;
mod matrix;
mod part;
pub(crate) mod scaled;
mod scan;
mod shape;
mod sharing;
mod source;

#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
pub use at_once::*;
pub use lines::{GROUP, PANEL, RangeWords, lowest_exponent};
pub use shape::{
    SCAN_DEPTH, SCAN_LINES, SPLIT_ALIGNMENT, SPLIT_DEPTH, SPLIT_LINES, SPLIT_THREADS, SplitShape,
};
pub use sharing::Sharing;

use cuda_std::prelude::*;
use half::f16;
use halves::split;
use matrix::SplitMatrix;
use scan::scan;

/// Finds the extremes of each line of one or two operands.
///
/// # Safety
/// 1. The launch meets the [requirements of the kernels](SplitShape#requirements-of-the-kernels), with
///    [`scan_blocks`](SplitShape::scan_blocks) blocks per matrix.
/// 2. The words were 0 before.
#[kernel(max_threads = 256)]
pub unsafe fn split_scan(
    a: Global<f32>,
    b: Global<f32>,
    a_shape: GridConstant<SplitShape>,
    b_shape: GridConstant<SplitShape>,
    a_words: GlobalMut<u32>,
    b_words: GlobalMut<u32>,
) {
    let block = thread::block_idx_x();
    let blocks = SplitShape::scan_blocks;
    let matrix = SplitMatrix::of_block(
        block,
        blocks,
        (a, b),
        (a_shape, b_shape),
        (a_words, b_words),
    );
    let place = matrix.place(matrix.shape.lines.div_ceil(SCAN_LINES));
    // SAFETY: the launch meets the kernel's requirements: the caller's contract. The source, the words and the place
    // are the calling block's.
    unsafe {
        match matrix.shape.is_along {
            1 => scan(matrix.source::<true>(), matrix.words, place),
            _ => scan(matrix.source::<false>(), matrix.words, place),
        }
    }
}

/// Splits one or two operands into high and low halves.
///
/// The high halves of all matrices come first, line after line, then the low halves.
///
/// # Safety
/// 1. The launch meets the [requirements of the kernels](SplitShape#requirements-of-the-kernels), with
///    [`split_blocks`](SplitShape::split_blocks) blocks per matrix.
/// 2. The words are as [`split_scan`] left them.
#[allow(clippy::too_many_arguments)]
#[kernel(max_threads = 256)]
pub unsafe fn split_halves(
    a: Global<f32>,
    b: Global<f32>,
    a_shape: GridConstant<SplitShape>,
    b_shape: GridConstant<SplitShape>,
    a_words: GlobalMut<u32>,
    b_words: GlobalMut<u32>,
    a_halves: GlobalMut<f16>,
    b_halves: GlobalMut<f16>,
) {
    // From the end: the L2 cache still has the elements that were scanned last.
    let block = thread::grid_dim_x() - 1 - thread::block_idx_x();
    let blocks = SplitShape::split_blocks;
    let matrix = SplitMatrix::of_block(
        block,
        blocks,
        (a, b),
        (a_shape, b_shape),
        (a_words, b_words),
    );
    let halves = matrix.halves((a_halves, b_halves));
    let SplitShape {
        lines,
        lowest,
        is_along,
        ..
    } = matrix.shape;
    let place = matrix.place(lines.div_ceil(SPLIT_LINES));
    // SAFETY: the launch meets the kernel's requirements: the caller's contract. The source, the words, the halves and
    // the place are the calling block's.
    unsafe {
        match is_along {
            1 => split(matrix.source::<true>(), matrix.words, halves, lowest, place),
            _ => split(
                matrix.source::<false>(),
                matrix.words,
                halves,
                lowest,
                place,
            ),
        }
    }
}

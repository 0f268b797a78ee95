//! Splits f32 matrices into pairs of f16 values, *halves*, that tensor cores multiply.
//!
//! A *line* is a row of A or a column of B. One power of two scales it, so that its largest element lies in [2^14,
//! 2^15). Then each element x becomes hi + 2^-11 lo:
//!
//! ```text
//! hi = x rounded to f16         |x - hi| <= 2^-11 |x|
//! lo = 2^11 (x - hi) rounded    what is left: at most 2^-23 |x|, or 2^-36 where x is small
//! ```
//!
//! This is as accurate as f32 unless the elements of a line are too far apart. A line with infinities, NaN or elements
//! too far apart is outside the split's range (`wide` in code), and so are all [`PANEL`] lines of its panel: the CUDA
//! cores compute their outputs ([`LineWords`]).
//!
//! (Ootomo, Yokota: Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak
//! performance, 2022, introduced the two values and the factor 2^11.)

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
pub use lines::{GROUP, LineWords, PANEL, lowest_exponent};
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
/// 1. Along x, the grid has the [blocks](SplitShape::scan_blocks) of each matrix of A, then of B, with
///    [`SPLIT_THREADS`] threads.
/// 2. `a` and `b` start with the first element of the operands of their shapes, and reach to the last. The launch reads
///    no other elements.
/// 3. `a_words` and `b_words` have the [`LineWords`] of each matrix, which were 0 before. Only this launch accesses
///    them.
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
    // SAFETY: the caller's contract, for the block's matrix.
    unsafe {
        match matrix.shape.is_along {
            1 => scan(matrix.source::<true>(), matrix.words, place),
            _ => scan(matrix.source::<false>(), matrix.words, place),
        }
    }
}

/// Splits one or two operands, line after line: the high values of all matrices come first, then the low ones.
///
/// # Safety
/// 1. Along x, the grid has the [blocks](SplitShape::split_blocks) of each matrix of A, then of B, with
///    [`SPLIT_THREADS`] threads.
/// 2. `a` and `b` start with the first element of the operands of their shapes, and reach to the last. The launch reads
///    no other elements.
/// 3. `a_words` and `b_words` have the [`LineWords`] of each matrix, as [`split_scan`] left them.
/// 4. `a_halves` and `b_halves` have twice as many lines as the matrices, each of the shape's pitch, and, unless empty,
///    start at multiples of 8 bytes. Only this launch accesses them and the words.
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
    // Backwards, because L2 still has what was scanned last.
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
    // SAFETY: the caller's contract, for the block's matrix.
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

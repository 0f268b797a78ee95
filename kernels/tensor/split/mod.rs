//! Splits f32 matrices into halves that tensor cores multiply.
//!
//! A *line* is a row of A or a column of B, scaled by one power of two. Its largest element
//! comes to lie in [2^14, 2^15), and each element x becomes hi + 2^-11 lo:
//!
//! ```text
//! hi = x rounded to f16         |x - hi| <= 2^-11 |x|
//! lo = 2^11 (x - hi) rounded    what is left: at most 2^-23 |x|, or 2^-36 where x is small
//! ```
//!
//! That is as accurate as f32 as long as the elements of a line are not too far apart. A line with
//! infinities, NaN or elements too far apart is outside the split's range (`wide` in code), and so are all
//! [`PANEL`] lines of its panel: the CUDA cores compute their outputs ([`LineWords`]).
//!
//! (Ootomo, Yokota: Recovering single precision accuracy from Tensor Cores while surpassing the FP32
//! theoretical peak performance, 2022, has the two halves and the factor 2^11.)

#[cfg(any(not(target_arch = "nvptx64"), cuda_arch_at_least = "90a"))]
mod at_once;
pub(crate) mod halves;
pub(crate) mod lines;
mod operand;
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
use operand::Operand;
use scan::scan;

/// Finds the extremes of each line of one or two operands.
///
/// # Safety
/// 1. The grid has the [blocks](SplitShape::scan_blocks) of each matrix of A and then of B along x, of
///    [`SPLIT_THREADS`] threads.
/// 2. `a` and `b` start with the first elements of the operands of their shapes and reach to the last. The
///    launch reads their elements alone.
/// 3. `a_words` and `b_words` have the words of [`LineWords`] of each matrix, which were 0 before. The launch has them for
///    itself.
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
    let operand = Operand::of_block(
        block,
        blocks,
        (a, b),
        (a_shape, b_shape),
        (a_words, b_words),
    );
    let place = operand.place(operand.shape.lines.div_ceil(SCAN_LINES));
    // SAFETY: (1) is (1) to (3).
    unsafe {
        match operand.shape.is_along {
            1 => scan(operand.source::<true>(), operand.words, place),
            _ => scan(operand.source::<false>(), operand.words, place),
        }
    }
}

/// Splits one or two operands into halves, line after line: the upper halves of all matrices, and then the
/// lower ones.
///
/// # Safety
/// 1. The grid has the [blocks](SplitShape::split_blocks) of each matrix of A and then of B along x, of
///    [`SPLIT_THREADS`] threads.
/// 2. `a` and `b` start with the first elements of the operands of their shapes and reach to the last. The
///    launch reads their elements alone.
/// 3. `a_words` and `b_words` have the words of [`LineWords`] as [`split_scan`] left them.
/// 4. `a_halves` and `b_halves` have twice as many lines as the matrices, each of the shape's pitch. The
///    launch has them and the words for itself.
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
    // From the end on: the second-level cache still has what was scanned last.
    let block = thread::grid_dim_x() - 1 - thread::block_idx_x();
    let blocks = SplitShape::split_blocks;
    let operand = Operand::of_block(
        block,
        blocks,
        (a, b),
        (a_shape, b_shape),
        (a_words, b_words),
    );
    let halves = operand.halves((a_halves, b_halves));
    let SplitShape {
        lines,
        lowest,
        is_along,
        ..
    } = operand.shape;
    let place = operand.place(lines.div_ceil(SPLIT_LINES));
    // SAFETY: (1) is (1) to (4).
    unsafe {
        match is_along {
            1 => split(
                operand.source::<true>(),
                operand.words,
                halves,
                lowest,
                place,
            ),
            _ => split(
                operand.source::<false>(),
                operand.words,
                halves,
                lowest,
                place,
            ),
        }
    }
}

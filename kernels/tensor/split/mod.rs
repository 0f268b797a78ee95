//! f32 matrices taken apart into halves, so that tensor cores multiply them.
//!
//! A *line* is what is scaled by one power of two: a row of A or a column of B. Its largest element
//! comes to lie in [2^14, 2^15), and each element x becomes hi + 2^-11 lo:
//!
//! ```text
//! hi = x rounded to f16         |x - hi| <= 2^-11 |x|
//! lo = 2^11 (x - hi) rounded    what is left: at most 2^-23 |x|, or 2^-36 where x is small
//! ```
//!
//! That is as accurate as f32 as long as the elements of a line are not too far apart. A line with
//! infinities, NaN or elements that are is *wide*, and so are the [`PANEL`] lines of which it is one: their
//! outputs are left to the ordinary units ([`LineWords`]).
//!
//! (Ootomo, Yokota: Recovering single precision accuracy from Tensor Cores while surpassing the FP32
//! theoretical peak performance, 2022, has the two halves and the factor 2^11.)

of_sm_90a! {
    mod at_once;
}
mod halves;
mod lines;
mod scan;
mod source;

pub use halves::{SPLIT_DEPTH, SPLIT_LINES};
pub use lines::{LineWords, PANEL, lowest_exponent};
pub use scan::{SCAN_DEPTH, SCAN_LINES};

of_sm_90a! {
    pub use at_once::*;
    pub(super) use halves::LOW_SCALE;
    pub(super) use lines::scale_of;
}

use bytemuck::{Pod, Zeroable};
use cuda_std::prelude::*;
use half::f16;
use halves::{Halves, split};
use scan::scan;
use source::Source;

/// Threads of a block of the kernels here.
pub const SPLIT_THREADS: u32 = 256;

const WARPS: usize = SPLIT_THREADS as usize / 32;

/// An operand of a product as the kernels here have it, beside its elements.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct SplitShape {
    /// Its lines; 0 where there is nothing to take apart.
    pub lines: usize,
    /// Elements of each.
    pub k: usize,
    /// Elements from a line to the next where lines are contiguous, else from an element of a line to
    /// its next.
    pub leading_dimension: usize,
    /// Elements from a line of halves to the next: at least `k`, and a multiple of 4.
    pub pitch: usize,
    /// The exponent below which an element of a scaled line makes it wide: that of [`lowest_exponent`].
    pub lowest: i32,
    /// 1 where lines are contiguous.
    pub is_along: u32,
}

impl SplitShape {
    /// No operand.
    pub const NONE: Self = Self {
        lines: 0,
        k: 0,
        leading_dimension: 0,
        pitch: 0,
        lowest: 0,
        is_along: 1,
    };

    /// Blocks that find the extremes of the operand's lines.
    #[inline(always)]
    #[must_use]
    pub const fn scan_blocks(&self) -> usize {
        self.lines.div_ceil(SCAN_LINES) * self.k.div_ceil(SCAN_DEPTH)
    }

    /// Blocks that take the operand apart.
    #[inline(always)]
    #[must_use]
    pub const fn split_blocks(&self) -> usize {
        self.lines.div_ceil(SPLIT_LINES) * self.k.div_ceil(SPLIT_DEPTH)
    }
}

/// An operand in a launch.
#[derive(Clone, Copy)]
struct Operand<'launch> {
    x: Global<'launch, f32>,
    shape: SplitShape,
    words: GlobalMut<'launch, u32>,
}

impl<'launch> Operand<'launch> {
    /// A, or B. Number by number: which of two structs is read would be decided by an address, and the
    /// struct would lie in local memory.
    #[inline(always)]
    fn of_block(
        is_of_a: bool,
        (a, b): (Global<'launch, f32>, Global<'launch, f32>),
        (a_shape, b_shape): (GridConstant<SplitShape>, GridConstant<SplitShape>),
        (a_words, b_words): (GlobalMut<'launch, u32>, GlobalMut<'launch, u32>),
    ) -> Self {
        let either = |a: usize, b: usize| if is_of_a { a } else { b };
        let (of_a, of_b) = (*a_shape, *b_shape);
        Self {
            x: if is_of_a { a } else { b },
            shape: SplitShape {
                lines: either(of_a.lines, of_b.lines),
                k: either(of_a.k, of_b.k),
                leading_dimension: either(of_a.leading_dimension, of_b.leading_dimension),
                pitch: either(of_a.pitch, of_b.pitch),
                lowest: either(of_a.lowest as usize, of_b.lowest as usize) as i32,
                is_along: either(of_a.is_along as usize, of_b.is_along as usize) as u32,
            },
            words: if is_of_a { a_words } else { b_words },
        }
    }

    #[inline(always)]
    fn source<const ALONG: bool>(&self) -> Source<'launch, ALONG> {
        let SplitShape {
            lines,
            k,
            leading_dimension,
            ..
        } = self.shape;
        Source {
            elements: self.x,
            lines,
            k,
            leading_dimension,
        }
    }
}

/// Finds the extremes of each line of one or two operands.
///
/// # Safety
/// 1. The grid has the [blocks](SplitShape::scan_blocks) of A and then those of B along x, of
///    [`SPLIT_THREADS`] threads.
/// 2. `a` and `b` start with the first elements of the operands of their shapes and reach to the last. The
///    launch reads their elements alone.
/// 3. `a_words` and `b_words` have the words of [`LineWords`], which were 0 before. The launch has them for
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
    let (block, of_a) = (thread::block_idx_x(), a_shape.scan_blocks() as u32);
    let is_of_a = block < of_a;
    let operand = Operand::of_block(is_of_a, (a, b), (a_shape, b_shape), (a_words, b_words));
    let block = if is_of_a { block } else { block - of_a };
    let place = place_of(block, operand.shape.lines.div_ceil(SCAN_LINES));
    // SAFETY: (1) is (1) to (3).
    unsafe {
        match operand.shape.is_along {
            1 => scan(operand.source::<true>(), operand.words, place),
            _ => scan(operand.source::<false>(), operand.words, place),
        }
    }
}

/// Takes one or two operands apart into halves, line after line: the upper halves of all lines, and then
/// the lower ones.
///
/// # Safety
/// 1. The grid has the [blocks](SplitShape::split_blocks) of A and then those of B along x, of
///    [`SPLIT_THREADS`] threads.
/// 2. `a` and `b` start with the first elements of the operands of their shapes and reach to the last. The
///    launch reads their elements alone.
/// 3. `a_words` and `b_words` have the words of [`LineWords`] as [`split_scan`] left them.
/// 4. `a_halves` and `b_halves` have twice as many lines as the operands, each of the shape's pitch. The
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
    let of_a = a_shape.split_blocks() as u32;
    let is_of_a = block < of_a;
    let operand = Operand::of_block(is_of_a, (a, b), (a_shape, b_shape), (a_words, b_words));
    let halves = if is_of_a { a_halves } else { b_halves };
    let block = if is_of_a { block } else { block - of_a };
    let halves = Halves::new(halves, &operand.shape);
    let SplitShape {
        lines,
        lowest,
        is_along,
        ..
    } = operand.shape;
    let place = place_of(block, lines.div_ceil(SPLIT_LINES));
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

/// Which lines and which elements of them a block has, of which `line_blocks` have the same elements: the
/// numbers of both.
#[inline(always)]
fn place_of(block: u32, line_blocks: usize) -> (usize, usize) {
    let line_blocks = line_blocks as u32;
    (
        (block % line_blocks) as usize,
        (block / line_blocks) as usize,
    )
}

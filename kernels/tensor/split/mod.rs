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

mod halves;
mod lines;
mod scan;
mod source;

pub use halves::{SPLIT_DEPTH, SPLIT_LINES};
pub use lines::{LineWords, PANEL, lowest_exponent};
pub use scan::{SCAN_DEPTH, SCAN_LINES};

of_sm_90a! {
    pub(super) use halves::LOW_SCALE;
    pub(super) use lines::scale_of;
}

use cuda_std::prelude::*;
use half::f16;
use halves::{Halves, split};
use scan::scan;
use source::Source;

/// Threads of a block of the kernels here.
pub const SPLIT_THREADS: u32 = 256;

const WARPS: usize = SPLIT_THREADS as usize / 32;

macro_rules! split_kernels {
    ($($along:literal: $scan:ident, $split:ident, $layout:literal;)*) => {$(
        #[doc = concat!("Finds the extremes of each line of an operand ", $layout)]
        ///
        /// # Safety
        /// 1. The grid has a block for each [`SCAN_LINES`] lines along x and for each [`SCAN_DEPTH`] elements
        ///    along y, of [`SPLIT_THREADS`] threads.
        /// 2. `x` starts with the first element of the operand and reaches to its last. The launch reads its
        ///    elements alone.
        /// 3. `words` has the words of [`LineWords`], which were 0 before the first scan.
        #[kernel(max_threads = 256)]
        pub unsafe fn $scan(
            x: Global<f32>,
            lines: usize,
            k: usize,
            leading_dimension: usize,
            words: GlobalMut<u32>,
        ) {
            let source = Source::<$along> { elements: x, lines, k, leading_dimension };
            // SAFETY: (1) is (1) to (3).
            unsafe { scan(source, words) };
        }

        #[doc = concat!("Takes an operand apart into halves, line after line. It is ", $layout)]
        ///
        /// # Safety
        /// 1. The grid has a block for each [`SPLIT_LINES`] lines along x and for each [`SPLIT_DEPTH`]
        ///    elements along y, of [`SPLIT_THREADS`] threads.
        /// 2. `x` starts with the first element of the operand and reaches to its last. The launch reads its
        ///    elements alone.
        /// 3. `words` has the words of [`LineWords`] as a scan left them.
        /// 4. `high` and `low` have `lines` lines of `pitch` elements, at least `k` and a multiple of 4.
        #[allow(clippy::too_many_arguments)]
        #[kernel(max_threads = 256)]
        pub unsafe fn $split(
            x: Global<f32>,
            lines: usize,
            k: usize,
            leading_dimension: usize,
            words: GlobalMut<u32>,
            high: GlobalMut<f16>,
            low: GlobalMut<f16>,
            pitch: usize,
            lowest: i32,
        ) {
            let source = Source::<$along> { elements: x, lines, k, leading_dimension };
            // SAFETY: (1) is (1) to (4).
            unsafe { split(source, words, Halves { high, low, lines, pitch }, lowest) };
        }
    )*};
}
split_kernels! {
    true: split_scan_along, split_along, "whose lines are contiguous.";
    false: split_scan_across, split_across, "whose lines lie side by side.";
}

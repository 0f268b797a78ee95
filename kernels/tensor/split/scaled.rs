//! Totals of products of scaled operands: scaled back, or left to the CUDA cores.

use super::lines::{PANEL, RangeWords, scale_of};
use crate::finish::Finish;
use cuda_std::prelude::*;

/// The scales of both operands' lines.
///
/// `a_words` and `b_words` have the words of [`RangeWords`] of `m` and `n` lines, as the splits left them. Kernels that
/// make a value require this of their callers; unsafe code relies on it.
#[derive(Clone, Copy)]
pub struct Scales<'a> {
    pub a_words: Global<'a, u32>,
    pub b_words: Global<'a, u32>,
    /// The rows of A.
    pub m: usize,
    /// The columns of B.
    pub n: usize,
}

impl Scales<'_> {
    /// The scales of matrix number `a` of A and number `b` of B.
    #[inline(always)]
    pub fn of_matrices(self, a: usize, b: usize) -> Self {
        Self {
            a_words: self.a_words.skip(a * RangeWords { lines: self.m }.len()),
            b_words: self.b_words.skip(b * RangeWords { lines: self.n }.len()),
            ..self
        }
    }

    /// Whether a tile is left to the CUDA cores. Its first output is at (`row`, `column`).
    ///
    /// # Safety
    /// 1. All lanes of the warp make the call for the same tile, and `column` is below `n`.
    #[inline(always)]
    pub unsafe fn is_out_of_range(self, (row, column): (usize, usize)) -> bool {
        if row >= self.m {
            return true;
        }
        let (a, b) = (RangeWords { lines: self.m }, RangeWords { lines: self.n });
        // SAFETY: the words are those of the lines: the invariant of `Scales`. The row was compared, and the column is
        // below `n`: the caller's contract, so the panels begin with lines of the operands. All lanes make the calls
        // for one tile: the caller's contract.
        let (of_a, of_b) = unsafe {
            (
                a.is_panel_out_of_range(self.a_words, panel_of(row)),
                b.is_panel_out_of_range(self.b_words, panel_of(column)),
            )
        };
        // Not `||`: both loads are in flight before the first is used.
        of_a | of_b
    }
}

/// The first line of the panel of `line`.
#[inline(always)]
const fn panel_of(line: usize) -> usize {
    line / PANEL * PANEL
}

/// Scales totals back, then applies another finish, [`Finish::ROWS_AT_ONCE`] rows at a time.
#[derive(Clone, Copy)]
pub struct ScaledBack<'a, F, const ROWS_AT_ONCE: usize> {
    pub scales: Scales<'a>,
    pub then: F,
}

impl<F: Finish<Sum = f32>, const ROWS_AT_ONCE: usize> Finish for ScaledBack<'_, F, ROWS_AT_ONCE> {
    type Sum = f32;
    type Line = (i32, F::Line);
    const ROWS_AT_ONCE: usize = ROWS_AT_ONCE;

    #[inline(always)]
    fn reads_c(&self) -> bool {
        self.then.reads_c()
    }

    #[inline(always)]
    unsafe fn row(&self, index: usize) -> Self::Line {
        // SAFETY: the result has the row: the caller's contract. So A has the line, and the words are those of the
        // lines: the invariant of `Scales`. The next finish requires the same.
        unsafe {
            (
                scale_of(self.scales.a_words.load(index)),
                self.then.row(index),
            )
        }
    }

    #[inline(always)]
    unsafe fn column(&self, index: usize) -> Self::Line {
        // SAFETY: as in `row`, for columns of B.
        unsafe {
            (
                scale_of(self.scales.b_words.load(index)),
                self.then.column(index),
            )
        }
    }

    #[inline(always)]
    fn output(&self, total: f32, c: f32, row: Self::Line, column: Self::Line) -> f32 {
        let sum = scaled_back(total, row.0 + column.0);
        self.then.output(sum, c, row.1, column.1)
    }
}

/// `total` times 2^-`scale`, rounded once. Computed in f64, whose exponents suffice.
#[inline(always)]
fn scaled_back(total: f32, scale: i32) -> f32 {
    let power = f64::from_bits(((1023 - scale) as u64) << 52);
    (f64::from(total) * power) as f32
}

//! [`Finish`]: the epilogue of a sum.

use crate::epilogue::{Epilogue, EpilogueElement, Line};

/// An epilogue: the step from a sum to its output.
pub trait Finish: Copy {
    /// The type of the sums.
    type Sum;

    /// The contribution of a row or a column.
    type Line: Copy;

    /// Rows of a lane's outputs that are computed together, independently: 1 or 4. The code is repeated for each.
    const ROWS_AT_ONCE: usize = 1;

    /// Whether the old C is read.
    fn reads_c(&self) -> bool;

    /// The contribution of row `index` of the result.
    ///
    /// # Safety
    /// 1. The result has the row.
    unsafe fn row(&self, index: usize) -> Self::Line;

    /// The contribution of column `index` of the result.
    ///
    /// # Safety
    /// 1. The result has the column.
    unsafe fn column(&self, index: usize) -> Self::Line;

    /// The output of `sum`. `c` is ignored if C is not read.
    fn output(
        &self,
        sum: Self::Sum,
        c: Self::Sum,
        row: Self::Line,
        column: Self::Line,
    ) -> Self::Sum;
}

impl<S: EpilogueElement> Finish for Epilogue<'_, S> {
    type Sum = S;
    type Line = Line<S>;

    #[inline(always)]
    fn reads_c(&self) -> bool {
        Self::reads_c(self)
    }

    #[inline(always)]
    unsafe fn row(&self, index: usize) -> Line<S> {
        Self::row(self, index)
    }

    #[inline(always)]
    unsafe fn column(&self, index: usize) -> Line<S> {
        Self::column(self, index)
    }

    #[inline(always)]
    fn output(&self, sum: S, c: S, row: Line<S>, column: Line<S>) -> S {
        Self::output(self, sum, c, row, column)
    }
}

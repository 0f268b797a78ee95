//! What becomes of a sum: an epilogue, or another [`Finish`].

use crate::epilogue::{Epilogue, EpilogueElement, Line};

/// What becomes of a sum.
pub trait Finish: Copy {
    /// The type of sums.
    type Sum;

    /// What a row or a column contributes.
    type Line: Copy;

    /// Rows of a lane's outputs that are computed together, none of which waits for the one before: 1 or 4. A kernel
    /// has the code so many times.
    const ROWS_AT_ONCE: usize = 1;

    /// Whether what C held before is read.
    fn reads_c(&self) -> bool;

    /// What row `index` of the result contributes.
    ///
    /// # Safety
    /// 1. The row is there.
    unsafe fn row(&self, index: usize) -> Self::Line;

    /// What column `index` of the result contributes.
    ///
    /// # Safety
    /// 1. The column is there.
    unsafe fn column(&self, index: usize) -> Self::Line;

    /// The output of `sum`; `c` is ignored where C is not read.
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

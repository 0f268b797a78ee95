//! What becomes of the sums.

use super::plan::VectorShape;
use crate::epilogue::{Epilogue, EpilogueElement};
use crate::finish::{FromSum, Output, store_output};
use cuda_std::prelude::*;

/// The outputs y: a vector, or a matrix, row after row.
#[derive(Clone, Copy)]
pub struct Outputs<'launch, O: Output> {
    y: GlobalMut<'launch, O>,
    /// Elements of a row.
    columns: usize,
    /// Elements from one row to the next.
    apart: usize,
    epilogue: Epilogue<'launch, O::Sum>,
}

impl<'launch, O: Output> Outputs<'launch, O> {
    #[inline(always)]
    pub fn new(
        y: GlobalMut<'launch, O>,
        shape: &VectorShape,
        epilogue: Epilogue<'launch, O::Sum>,
    ) -> Self {
        Self {
            y,
            columns: shape.columns,
            apart: shape.y_apart,
            epilogue,
        }
    }

    /// Writes the output of `line`.
    ///
    /// # Safety
    /// 1. y has the output.
    /// 2. No other thread of the launch has it.
    #[inline(always)]
    pub unsafe fn store<S>(&self, line: usize, sum: S)
    where
        O::Sum: FromSum<S>,
    {
        let (row, column) = match self.columns {
            1 => (line, 0),
            columns => (line / columns, line % columns),
        };
        // A sum that is zero is +0: how many accumulators without products were added shows in no sign.
        let sum = O::Sum::from_sum(sum).plus(O::Sum::ZERO);
        let at = row * self.apart + column;
        // SAFETY: (1), (2) are the caller's.
        unsafe { store_output::<O::Sum, O>(self.y, at, (row, column), sum, self.epilogue) };
    }
}

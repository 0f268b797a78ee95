//! The outputs y.

use super::plan::VectorShape;
use crate::epilogue::{Epilogue, EpilogueElement};
use crate::finish::{FromSum, Output, store_output};
use cuda_std::prelude::*;

/// The outputs y: a vector, or a row-major matrix.
#[derive(Clone, Copy)]
pub struct Outputs<'launch, O: Output> {
    y: GlobalMut<'launch, O>,
    /// Columns of y.
    columns: usize,
    /// Elements from one row of y to the next.
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
            columns: shape.y_columns,
            apart: shape.y_apart,
            epilogue,
        }
    }

    /// Writes the output of row `output` of X.
    ///
    /// # Safety
    /// 1. y has the output.
    /// 2. No other thread of the launch accesses it.
    #[inline(always)]
    pub unsafe fn store<S>(&self, output: usize, sum: S)
    where
        O::Sum: FromSum<S>,
    {
        let (row, column) = match self.columns {
            1 => (output, 0),
            columns => (output / columns, output % columns),
        };
        // A zero sum becomes +0, so that no sign depends on the number of accumulators without products.
        let sum = O::Sum::from_sum(sum).plus(O::Sum::ZERO);
        let at = row * self.apart + column;
        // SAFETY: y has the output, and no other thread accesses it: the caller's contract.
        unsafe { store_output::<O::Sum, O>(self.y, at, (row, column), sum, self.epilogue) };
    }
}

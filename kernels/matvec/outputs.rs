//! What becomes of the sums.

use super::element::Element;
use super::plan::VectorShape;
use crate::epilogue::Epilogue;
use cuda_std::prelude::*;

/// The outputs y: a vector, or a matrix, row after row.
#[derive(Clone, Copy)]
pub struct Outputs<'launch, O: Element> {
    y: GlobalMut<'launch, O>,
    /// Elements of a row.
    columns: usize,
    /// Elements from one row to the next.
    apart: usize,
    epilogue: Epilogue<'launch, O::Sum>,
}

impl<'launch, O: Element> Outputs<'launch, O> {
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
    pub unsafe fn store(&self, line: usize, sum: O::Sum) {
        let (row, column) = match self.columns {
            1 => (line, 0),
            columns => (line / columns, line % columns),
        };
        let at = row * self.apart + column;
        // A sum that is zero is +0: how many strands without products were added shows in no sign.
        let sum = sum + O::Sum::ZERO;
        let epilogue = &self.epilogue;
        if epilogue.is_plain() {
            // SAFETY: (1), (2) are the caller's.
            unsafe { self.y.store(at, O::narrow(sum)) };
            return;
        }
        let before = match epilogue.reads_c() {
            // SAFETY: as above; what is loaded was there before the launch.
            true => unsafe { self.y.load(at) }.widen(),
            false => O::Sum::ZERO,
        };
        let output = epilogue.output(sum, before, epilogue.row(row), epilogue.column(column));
        // SAFETY: as above.
        unsafe { self.y.store(at, O::narrow(output)) };
    }
}

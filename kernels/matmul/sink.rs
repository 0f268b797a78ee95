//! Sinks: what happens to a finished sum.

use crate::epilogue::{Epilogue, EpilogueElement};
use cuda_std::global::GlobalMut;

/// Takes each finished sum of a product once.
pub trait Sink<T> {
    /// Takes the sum at (`row`, `column`).
    ///
    /// # Safety
    /// 1. The result has the output.
    /// 2. No other thread of the launch accesses it.
    unsafe fn store(&self, row: usize, column: usize, sum: T);
}

/// A sink of outputs, which may take sums unchanged.
pub trait OutputSink<T: EpilogueElement>: Sink<T> {
    /// What writes sums unchanged, if that is all that the sink does.
    fn plain(&self) -> Option<StoreOutput<'_, T>>;
}

/// Writes sums to a row-major C, with one NaN for all.
#[derive(Clone, Copy)]
pub struct StoreOutput<'launch, T> {
    c: GlobalMut<'launch, T>,
    leading_dimension: usize,
}

impl<'launch, T> StoreOutput<'launch, T> {
    /// A result in `c`, with rows `leading_dimension` elements apart.
    ///
    /// # Safety
    /// 1. `c` has the elements of the result. The launch accesses them only through such a value.
    #[inline(always)]
    pub unsafe fn new(c: GlobalMut<'launch, T>, leading_dimension: usize) -> Self {
        Self {
            c,
            leading_dimension,
        }
    }
}

impl<T: EpilogueElement> Sink<T> for StoreOutput<'_, T> {
    #[inline(always)]
    unsafe fn store(&self, row: usize, column: usize, sum: T) {
        // SAFETY: `c` has the element: it has the result's elements, the contract of `new`, and the result has this
        // output, the caller's contract. No other thread accesses it: the contracts of both.
        unsafe {
            self.c
                .store(row * self.leading_dimension + column, sum.canonical())
        };
    }
}

/// Applies an epilogue to sums, and writes the outputs to C.
#[derive(Clone, Copy)]
pub struct StoreFinished<'launch, T> {
    pub to: StoreOutput<'launch, T>,
    pub epilogue: Epilogue<'launch, T>,
}

impl<T: EpilogueElement> Sink<T> for StoreFinished<'_, T> {
    #[inline(always)]
    unsafe fn store(&self, row: usize, column: usize, sum: T) {
        let Self { to, epilogue } = self;
        let at = row * to.leading_dimension + column;
        let (of_row, of_column) = (epilogue.row(row), epilogue.column(column));
        // SAFETY: C has the element, and no other thread accesses it: as for `StoreOutput`. The old element was written
        // before the launch.
        unsafe {
            let before = match epilogue.reads_c() {
                true => to.c.load(at),
                false => T::ZERO,
            };
            to.c.store(at, epilogue.output(sum, before, of_row, of_column));
        }
    }
}

impl<T: EpilogueElement> OutputSink<T> for StoreFinished<'_, T> {
    #[inline(always)]
    fn plain(&self) -> Option<StoreOutput<'_, T>> {
        match self.epilogue.is_plain() {
            true => Some(self.to),
            false => None,
        }
    }
}

//! What is done with a finished sum.

use crate::epilogue::{Epilogue, EpilogueElement};
use cuda_std::global::GlobalMut;

/// Takes the finished sums of a product, each once.
pub trait Sink<T> {
    /// Takes the sum at (`row`, `column`).
    ///
    /// # Safety
    /// 1. The output lies within the result.
    /// 2. No other thread of the launch has it.
    unsafe fn store(&self, row: usize, column: usize, sum: T);
}

/// C, row after row, where sums become outputs.
#[derive(Clone, Copy)]
pub struct StoreOutput<'launch, T> {
    c: GlobalMut<'launch, T>,
    leading_dimension: usize,
}

impl<'launch, T> StoreOutput<'launch, T> {
    /// # Safety
    /// 1. `c` has the elements of the result, whose rows start `leading_dimension` elements apart.
    ///    The launch's threads touch them through such a value alone.
    #[inline(always)]
    pub unsafe fn new(c: GlobalMut<'launch, T>, leading_dimension: usize) -> Self {
        Self {
            c,
            leading_dimension,
        }
    }
}

/// Writes the sums to C, with one NaN for all.
impl<T: EpilogueElement> Sink<T> for StoreOutput<'_, T> {
    #[inline(always)]
    unsafe fn store(&self, row: usize, column: usize, sum: T) {
        // SAFETY: (1) the result's elements are in C, by (1) of `new`, and this is one of them, by
        // (1). (2) It is this thread's alone, by (2).
        unsafe {
            self.c
                .store(row * self.leading_dimension + column, sum.canonical())
        };
    }
}

/// Writes to C what an epilogue makes of the sums.
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
        // SAFETY: as for `StoreOutput`; what is loaded was there before the launch.
        unsafe {
            let before = match epilogue.reads_c() {
                true => to.c.load(at),
                false => T::ZERO,
            };
            to.c.store(at, epilogue.output(sum, before, of_row, of_column));
        }
    }
}

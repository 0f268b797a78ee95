//! What is done with a finished output.

use cuda_std::float::Float;
use cuda_std::global::GlobalMut;

/// Takes the finished sums of a product, each once.
pub trait Epilogue<T> {
    /// Takes the output at (`row`, `column`).
    ///
    /// # Safety
    /// 1. The output lies within the result.
    /// 2. No other thread of the launch has it.
    unsafe fn store(&self, row: usize, column: usize, sum: T);
}

/// Writes the sums to C, with one NaN for all.
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

impl<T: Float> Epilogue<T> for StoreOutput<'_, T> {
    #[inline(always)]
    unsafe fn store(&self, row: usize, column: usize, sum: T) {
        // SAFETY: (1) the result's elements are in C, by (1) of `new`, and this is one of them, by
        // (1). (2) It is this thread's alone, by (2).
        unsafe {
            self.c
                .store(row * self.leading_dimension + column, sum.canonical_nan())
        };
    }
}

//! Matrices in global memory.

use super::{Global, GlobalMut, OwnElement};
use crate::thread::UniqueIndex2d;
use bytemuck::Pod;
use core::marker::PhantomData;

/// A row-major matrix in global memory that no thread writes during the launch.
///
/// Reads go through the read-only cache, as for a [`Global`].
#[derive(Debug)]
pub struct GlobalMatrix<'launch, T> {
    /// A raw pointer is neither `Send` nor `Sync`: the view stays with its thread.
    base: *const T,
    /// Rows, columns and leading dimension.
    lengths: [usize; 3],
    launch: PhantomData<&'launch [T]>,
}

/// A row-major matrix in global memory that this launch may write; no other view of it shares an element.
#[derive(Debug)]
pub struct GlobalMatrixMut<'launch, T> {
    /// A raw pointer is neither `Send` nor `Sync`: the view stays with its thread.
    base: *mut T,
    /// Rows, columns and leading dimension.
    lengths: [usize; 3],
    launch: PhantomData<&'launch mut [T]>,
}

macro_rules! matrix_basics {
    ($view:ident, $base:ty) => {
        impl<T> Clone for $view<'_, T> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $view<'_, T> {}

        impl<T> $view<'_, T> {
            /// The number of rows.
            #[inline(always)]
            #[must_use]
            pub const fn rows(self) -> usize {
                self.lengths[0]
            }

            /// The number of columns.
            #[inline(always)]
            #[must_use]
            pub const fn cols(self) -> usize {
                self.lengths[1]
            }

            /// The distance from the start of one row to the next, in elements.
            #[inline(always)]
            #[must_use]
            pub const fn leading_dimension(self) -> usize {
                self.lengths[2]
            }

            /// The number of elements from the first to the last, including those between rows.
            #[inline(always)]
            const fn span(self) -> usize {
                let [rows, cols, leading_dimension] = self.lengths;
                if rows == 0 || cols == 0 {
                    return 0;
                }
                (rows - 1) * leading_dimension + cols
            }

            /// The offset of element (row, column), or `None` if it is outside the matrix.
            #[inline(always)]
            const fn offset(self, row: usize, column: usize) -> Option<usize> {
                if row < self.rows() && column < self.cols() {
                    Some(row * self.leading_dimension() + column)
                } else {
                    None
                }
            }

            /// The parameters of a launch: references to the address and the lengths.
            #[cfg(not(target_arch = "nvptx64"))]
            pub(crate) fn parts(&self) -> (&$base, &[usize; 3]) {
                (&self.base, &self.lengths)
            }
        }
    };
}
matrix_basics!(GlobalMatrix, *const T);
matrix_basics!(GlobalMatrixMut, *mut T);

impl<'launch, T: Pod> GlobalMatrix<'launch, T> {
    /// The matrix whose first element is at `base`.
    ///
    /// # Safety
    /// 1. `base` is aligned for `T`, `cols <= leading_dimension` where there are several rows, and
    ///    the elements, `cols` from each multiple of `leading_dimension` on, are allocated in device
    ///    memory (the simulator's: host memory) for the lifetime `'launch`, in one allocation.
    /// 2. No thread writes them meanwhile.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_raw_parts(
        base: *const T,
        rows: usize,
        cols: usize,
        leading_dimension: usize,
    ) -> Self {
        Self {
            base,
            lengths: [rows, cols, leading_dimension],
            launch: PhantomData,
        }
    }

    /// All elements, including those between rows.
    #[inline(always)]
    const fn elements(self) -> Global<'launch, T> {
        // SAFETY: the elements are allocated: the contract of `from_raw_parts`. This module reads only the matrix's
        // elements through the view.
        unsafe { Global::from_raw_parts(self.base, self.span()) }
    }

    /// Element (row, column), or `None` if it is outside the matrix.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn get(self, row: usize, column: usize) -> Option<T> {
        let offset = self.offset(row, column)?;
        // SAFETY: the element is in the matrix: `offset` compared the row and the column.
        Some(unsafe { self.elements().load(offset) })
    }

    /// The elements of a row, or `None` if it is outside the matrix.
    #[inline(always)]
    #[must_use]
    pub const fn row(self, row: usize) -> Option<Global<'launch, T>> {
        if row >= self.rows() {
            return None;
        }
        let first = self.base.wrapping_add(row * self.leading_dimension());
        // SAFETY: the row's elements are the matrix's: allocated, and not written.
        Some(unsafe { Global::from_raw_parts(first, self.cols()) })
    }

    /// The address of the first element.
    #[inline(always)]
    #[must_use]
    pub const fn as_ptr(self) -> *const T {
        self.base
    }
}

impl<'launch, T: Pod> GlobalMatrixMut<'launch, T> {
    /// The matrix whose first element is at `base`.
    ///
    /// # Safety
    /// 1. `base` is aligned for `T`, `cols <= leading_dimension` where there are several rows, and
    ///    the elements, `cols` from each multiple of `leading_dimension` on, are allocated in device
    ///    memory (the simulator's: host memory) for the lifetime `'launch`, in one allocation.
    /// 2. Meanwhile nothing outside the launch, and no other view of the launch, touches them.
    /// 3. All threads of the launch have the same matrix.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_raw_parts(
        base: *mut T,
        rows: usize,
        cols: usize,
        leading_dimension: usize,
    ) -> Self {
        Self {
            base,
            lengths: [rows, cols, leading_dimension],
            launch: PhantomData,
        }
    }

    /// All elements, including those between rows.
    #[inline(always)]
    const fn elements(self) -> GlobalMut<'launch, T> {
        // SAFETY: the elements are allocated: the contract of `from_raw_parts`. This module accesses only the
        // matrix's elements through the view.
        unsafe { GlobalMut::from_raw_parts(self.base, self.span()) }
    }

    /// The calling thread's own element, by its [`UniqueIndex2d`], or `None` if it is outside the
    /// matrix. No other thread can reach it this way.
    ///
    /// `unsafe` accesses through this view must not touch other threads' own elements.
    #[inline(always)]
    #[must_use]
    pub fn own(self, index: UniqueIndex2d<'launch>) -> Option<OwnElement<'launch, T>> {
        let offset = self.offset(index.row(), index.column())?;
        Some(OwnElement {
            view: self.elements(),
            index: offset,
        })
    }

    /// Element (row, column).
    ///
    /// # Safety
    /// 1. `row < self.rows()` and `column < self.cols()`.
    /// 2. No other thread writes it, unless a barrier or a fence with an atomic orders the two.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load(self, row: usize, column: usize) -> T {
        // SAFETY: the caller's contract.
        unsafe {
            self.elements()
                .load(row * self.leading_dimension() + column)
        }
    }

    /// Writes element (row, column).
    ///
    /// # Safety
    /// 1. `row < self.rows()` and `column < self.cols()`.
    /// 2. No other thread touches it, unless a barrier or a fence with an atomic orders the two.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store(self, row: usize, column: usize, value: T) {
        // SAFETY: the caller's contract.
        unsafe {
            self.elements()
                .store(row * self.leading_dimension() + column, value)
        }
    }

    /// The address of the first element.
    #[inline(always)]
    #[must_use]
    pub const fn as_mut_ptr(self) -> *mut T {
        self.base
    }
}

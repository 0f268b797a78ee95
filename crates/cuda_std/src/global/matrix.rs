//! Matrices in global memory.

use super::{Global, GlobalMut, OwnElement};
use crate::thread::UniqueIndex2d;
use bytemuck::Pod;
use core::marker::PhantomData;

/// A row-major matrix in global memory that no thread writes during the launch.
///
/// Reads go through the read-only cache, as those of a [`Global`] do.
#[derive(Debug)]
pub struct GlobalMatrix<'launch, T> {
    /// A raw pointer is neither `Send` nor `Sync`: the view stays with its thread.
    base: *const T,
    /// Rows, columns, and elements from the start of one row to that of the next.
    lengths: [usize; 3],
    launch: PhantomData<&'launch [T]>,
}

/// A row-major matrix in global memory that this launch may write; no other view of it has one of its
/// elements.
#[derive(Debug)]
pub struct GlobalMatrixMut<'launch, T> {
    /// A raw pointer is neither `Send` nor `Sync`: the view stays with its thread.
    base: *mut T,
    /// Rows, columns, and elements from the start of one row to that of the next.
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

            /// Elements from the start of one row to that of the next in memory.
            #[inline(always)]
            #[must_use]
            pub const fn leading_dimension(self) -> usize {
                self.lengths[2]
            }

            /// Elements from the first to the last, those between the rows included.
            #[inline(always)]
            const fn span(self) -> usize {
                let [rows, cols, leading_dimension] = self.lengths;
                if rows == 0 || cols == 0 {
                    return 0;
                }
                (rows - 1) * leading_dimension + cols
            }

            /// Where element (row, column) lies, or `None` where the matrix does not have it.
            #[inline(always)]
            const fn offset(self, row: usize, column: usize) -> Option<usize> {
                if row < self.rows() && column < self.cols() {
                    Some(row * self.leading_dimension() + column)
                } else {
                    None
                }
            }

            /// What a launch passes: the places of the address and of the lengths.
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

    /// The elements with those between the rows.
    #[inline(always)]
    const fn elements(self) -> Global<'launch, T> {
        // SAFETY: (1) (1) of `from_raw_parts`. (2) What this module reads through it is the matrix's.
        unsafe { Global::from_raw_parts(self.base, self.span()) }
    }

    /// Element (row, column), or `None` where the matrix does not have it.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn get(self, row: usize, column: usize) -> Option<T> {
        let offset = self.offset(row, column)?;
        // SAFETY: (1) `offset` compared the row and the column.
        Some(unsafe { self.elements().load(offset) })
    }

    /// The elements of a row, or `None` where the matrix does not have it.
    #[inline(always)]
    #[must_use]
    pub const fn row(self, row: usize) -> Option<Global<'launch, T>> {
        if row >= self.rows() {
            return None;
        }
        let first = self.base.wrapping_add(row * self.leading_dimension());
        // SAFETY: (1), (2) the row's elements are the matrix's.
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
    /// 2. They are touched meanwhile neither from outside of the launch nor through another of its
    ///    views.
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

    /// The elements with those between the rows.
    #[inline(always)]
    const fn elements(self) -> GlobalMut<'launch, T> {
        // SAFETY: (1) (1) of `from_raw_parts`. (2) What this module touches through it is the matrix's.
        unsafe { GlobalMut::from_raw_parts(self.base, self.span()) }
    }

    /// The element that belongs to the calling thread by its [`UniqueIndex2d`], or `None` where the
    /// matrix does not have it. No other thread can reach it this way.
    ///
    /// In a kernel that also uses this view's `unsafe` accesses, those must keep off other
    /// threads' own elements.
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
        // SAFETY: (1), (2) are the caller's.
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
        // SAFETY: (1), (2) are the caller's.
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

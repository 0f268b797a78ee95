//! Several matrices of one shape, at equal distances in memory.

use super::owned::Matrix;
use super::shape::Order;
use super::view::MatrixView;
use super::view_mut::MatrixViewMut;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::holder::Written;
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// Matrices of one shape and [`Order`], at equal distances in memory.
///
/// They are equal parts of a larger matrix ([`MatrixView::batch_rows`], [`MatrixView::batch_columns`]), the same
/// [slice](Self::slice) of each part, or a single matrix that all products of a batch share (`(&matrix).into()`).
///
/// ```
/// use tilewright::{Device, Matmul};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// // Two matrices of 1 x 2, one below the other, and one that serves both.
/// let a = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0])?;
/// let b = device.matrix((2, 1), &[1.0, 10.0])?;
/// let c = Matmul::new(a.view().batch_rows(2)?, &b).run()?;
/// assert_eq!(c.to_vec()?, [21.0, 43.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MatrixBatch<'a, T: Element> {
    first: MatrixView<'a, T>,
    /// `None` for a matrix that all products share.
    count: Option<usize>,
    /// The distance from each matrix to the next, in elements.
    stride: usize,
}

/// A [`MatrixBatch`] for writing: no two of its matrices share an element.
#[derive(Debug)]
pub struct MatrixBatchMut<'a, T: Element> {
    batch: MatrixBatch<'a, T>,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T: Element> MatrixBatch<'a, T> {
    /// The first matrix; all have its shape and order.
    #[must_use]
    pub fn first(&self) -> MatrixView<'a, T> {
        self.first
    }

    /// The number of matrices; `None` for one that all products share.
    #[must_use]
    pub fn count(&self) -> Option<usize> {
        self.count
    }

    /// The distance from the start of each matrix to the start of the next, in elements.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// `count` matrices like `first`, at least one, `stride` elements apart, in the same allocation.
    #[cfg(feature = "dlpack")]
    pub(crate) fn at_distance(first: MatrixView<'a, T>, count: usize, stride: usize) -> Self {
        Self {
            first,
            count: Some(count),
            stride,
        }
    }

    /// The transposes, without a copy.
    #[must_use]
    pub fn t(self) -> Self {
        Self {
            first: self.first.t(),
            ..self
        }
    }

    /// The same rows and columns of each matrix, without a copy.
    ///
    /// Rows and columns are counted from the first of each matrix. The [`stride`](Self::stride) does not change, so
    /// the rest of each matrix becomes a gap.
    ///
    /// ```
    /// use tilewright::{Device, Matmul};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// // Two 2 x 2 matrices, one below the other. The product uses their first rows.
    /// let a = device.matrix((4, 2), &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])?;
    /// let b = device.matrix((2, 1), &[1.0, 10.0])?;
    /// let c = Matmul::new(a.view().batch_rows(2)?.slice(..1, ..)?, &b).run()?;
    /// assert_eq!(c.to_vec()?, [21.0, 65.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] if a range goes past the last row or column.
    pub fn slice(
        self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Result<Self> {
        self.of_each(rows, columns).during("slice")
    }

    /// [`Self::slice`], without the call's name in errors.
    pub(crate) fn of_each(
        self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Outcome<Self> {
        Ok(Self {
            first: self.first.part(rows, columns)?,
            ..self
        })
    }

    /// The matrices in `order`, if their elements already lie in it (one row or column lies in both orders);
    /// otherwise unchanged.
    pub(crate) fn in_order_if_possible(self, order: Order) -> Self {
        Self {
            first: self.first.in_order(order).unwrap_or(self.first),
            ..self
        }
    }

    /// `count` matrices from number `first` on, or the one that all products share.
    pub(crate) fn part(&self, first: usize, count: usize) -> Self {
        Self {
            first: self.get(first),
            count: self.count.map(|_| count),
            ..*self
        }
    }

    /// The same matrices, as those of another stream of their device.
    pub(crate) fn in_stream_of(self, device: &'a Device) -> Self {
        Self {
            first: self.first.in_stream_of(device),
            ..self
        }
    }

    /// Matrix `index`, or the one that all products share.
    pub(crate) fn get(&self, index: usize) -> MatrixView<'a, T> {
        self.first.moved_by(index * self.stride)
    }
}

impl<'a, T: Element> MatrixBatchMut<'a, T> {
    /// Borrows the matrices for reading.
    #[must_use]
    pub fn view(&self) -> MatrixBatch<'_, T> {
        self.batch
    }

    /// Turns the matrices into their transposes, without a copy.
    #[must_use]
    pub fn into_transposed(self) -> Self {
        Self::of(self.batch.t())
    }

    /// Keeps the same rows and columns of each matrix, as [`MatrixBatch::slice`] does. Elements outside them are not
    /// written.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] if a range goes past the last row or column.
    pub fn into_slice(
        self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Result<Self> {
        self.into_part(rows, columns).during("into_slice")
    }

    /// Reborrows the matrices for writing, so that this batch can be used again after a call.
    #[must_use]
    pub fn view_mut(&mut self) -> MatrixBatchMut<'_, T> {
        MatrixBatchMut::of(self.batch)
    }

    /// The elements, as the result of a call.
    pub(crate) fn written(&self) -> Written<'a> {
        let lines = self.batch.first.lines();
        let count = self.batch.count.unwrap_or(1);
        let elements = lines.count.saturating_mul(lines.len).saturating_mul(count);
        let bytes = elements.saturating_mul(size_of::<T>());
        self.batch.first.holder().written(bytes)
    }

    /// The same matrices, as those of another stream of their device.
    pub(crate) fn in_stream_of(self, device: &'a Device) -> Self {
        Self::of(self.batch.in_stream_of(device))
    }

    pub(crate) fn into_batch(self) -> MatrixBatch<'a, T> {
        self.batch
    }

    /// The first matrix.
    pub(crate) fn into_first(self) -> MatrixViewMut<'a, T> {
        MatrixViewMut::of_elements(self.batch.first)
    }

    /// [`Self::into_slice`], without the call's name in errors.
    pub(crate) fn into_part(
        self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Outcome<Self> {
        self.batch.of_each(rows, columns).map(Self::of)
    }

    /// `count` matrices from number `first` on, for writing.
    pub(crate) fn part_mut(&mut self, first: usize, count: usize) -> MatrixBatchMut<'_, T> {
        MatrixBatchMut::of(self.batch.part(first, count))
    }
}

impl<'a, T: Element> MatrixView<'a, T> {
    /// Divides the matrix into `count` matrices with the same number of rows, one below the other.
    ///
    /// # Errors
    /// [`ErrorKind::UnevenBatch`] unless `count` is positive and divides the number of rows.
    pub fn batch_rows(self, count: usize) -> Result<MatrixBatch<'a, T>> {
        self.parts(count, Order::RowMajor).during("batch_rows")
    }

    /// Divides the matrix into `count` matrices with the same number of columns, side by side.
    ///
    /// # Errors
    /// [`ErrorKind::UnevenBatch`] unless `count` is positive and divides the number of columns.
    pub fn batch_columns(self, count: usize) -> Result<MatrixBatch<'a, T>> {
        self.parts(count, Order::ColumnMajor)
            .during("batch_columns")
    }

    /// Cuts by rows, or by columns if `cut` is column-major.
    pub(crate) fn parts(self, count: usize, cut: Order) -> Outcome<MatrixBatch<'a, T>> {
        let (what, len) = match cut {
            Order::RowMajor => ("rows", self.rows()),
            Order::ColumnMajor => ("columns", self.cols()),
        };
        if count == 0 || !len.is_multiple_of(count) {
            return Err(ErrorKind::UnevenBatch { what, len, count });
        }
        let part = len / count;
        let first = match cut {
            Order::RowMajor => self.part(..part, ..)?,
            Order::ColumnMajor => self.part(.., ..part)?,
        };
        Ok(MatrixBatch {
            first,
            count: Some(count),
            stride: match cut == self.order() {
                // Without bytes, the leading dimension may be any number.
                _ if !first.has_bytes() => 0,
                true => part * self.leading_dimension(),
                false => part,
            },
        })
    }
}

impl<'a, T: Element> MatrixViewMut<'a, T> {
    /// Divides the matrix into `count` matrices with the same number of rows, one below the other.
    ///
    /// # Errors
    /// [`ErrorKind::UnevenBatch`] unless `count` is positive and divides the number of rows.
    pub fn into_batch_rows(self, count: usize) -> Result<MatrixBatchMut<'a, T>> {
        self.into_equal_rows(count).during("into_batch_rows")
    }

    /// Divides the matrix into `count` matrices with the same number of columns, side by side.
    ///
    /// # Errors
    /// [`ErrorKind::UnevenBatch`] unless `count` is positive and divides the number of columns.
    pub fn into_batch_columns(self, count: usize) -> Result<MatrixBatchMut<'a, T>> {
        let batch = self.into_view().parts(count, Order::ColumnMajor);
        batch.map(MatrixBatchMut::of).during("into_batch_columns")
    }
}

impl<'a, T: Element> MatrixViewMut<'a, T> {
    /// [`Self::into_batch_rows`], without the call's name in errors.
    pub(crate) fn into_equal_rows(self, count: usize) -> Outcome<MatrixBatchMut<'a, T>> {
        let batch = self.into_view().parts(count, Order::RowMajor)?;
        Ok(MatrixBatchMut::of(batch))
    }
}

impl<'a, T: Element> MatrixBatchMut<'a, T> {
    /// The matrices of `batch`, for writing.
    ///
    /// # Safety
    /// 1. No other view that is used during `'a` has any of their elements, and no two of them share one.
    #[cfg(feature = "dlpack")]
    pub(crate) unsafe fn of_batch(batch: MatrixBatch<'a, T>) -> Self {
        Self::of(batch)
    }

    /// The elements of `batch` are borrowed mutably, and its matrices share none.
    fn of(batch: MatrixBatch<'a, T>) -> Self {
        Self {
            batch,
            borrow: PhantomData,
        }
    }
}

/// An argument that converts to a [`MatrixBatch`]: a batch, or one matrix that all products share.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed as a matrix on a device or a batch of them",
    label = "expected `&matrix`, `matrix.t()`, a view, or a `MatrixBatch`",
    note = "upload host data with a shape: `let a = device.matrix((rows, columns), &a)?;`",
    note = "give a buffer a shape: `let a = buffer.into_matrix((rows, columns))?;`, or `buffer.view().as_column()` for \
            a vector"
)]
pub trait IntoMatrixBatch<'a, T: Element>: Into<MatrixBatch<'a, T>> {}

impl<'a, T: Element> IntoMatrixBatch<'a, T> for MatrixBatch<'a, T> {}
impl<'a, T: Element> IntoMatrixBatch<'a, T> for MatrixView<'a, T> {}
impl<'a, T: Element> IntoMatrixBatch<'a, T> for &MatrixView<'a, T> {}
impl<'a, T: Element> IntoMatrixBatch<'a, T> for &'a MatrixViewMut<'_, T> {}
impl<'a, T: Element> IntoMatrixBatch<'a, T> for &'a Matrix<T> {}

impl<'a, T: Element> From<MatrixView<'a, T>> for MatrixBatch<'a, T> {
    fn from(matrix: MatrixView<'a, T>) -> Self {
        Self {
            first: matrix,
            count: None,
            stride: 0,
        }
    }
}

impl<'a, T: Element> From<&MatrixView<'a, T>> for MatrixBatch<'a, T> {
    fn from(matrix: &MatrixView<'a, T>) -> Self {
        Self::from(*matrix)
    }
}

impl<'a, T: Element> From<&'a Matrix<T>> for MatrixBatch<'a, T> {
    fn from(matrix: &'a Matrix<T>) -> Self {
        Self::from(matrix.view())
    }
}

impl<'a, T: Element> From<&'a MatrixViewMut<'_, T>> for MatrixBatch<'a, T> {
    fn from(matrix: &'a MatrixViewMut<'_, T>) -> Self {
        Self::from(matrix.view())
    }
}

/// The result of a batch of products: a [`MatrixBatchMut`], or a single [`Matrix`] or [`MatrixViewMut`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a matrix of `{T}` that can be written, nor a batch of them",
    note = "results are written to `&mut Matrix<T>`, `&mut MatrixViewMut<T>` or `&mut MatrixBatchMut<T>`"
)]
pub trait AsMatrixBatchMut<T: Element> {
    /// Borrows all matrices mutably.
    fn as_matrix_batch_mut(&mut self) -> MatrixBatchMut<'_, T>;
}

impl<T: Element> AsMatrixBatchMut<T> for MatrixBatchMut<'_, T> {
    fn as_matrix_batch_mut(&mut self) -> MatrixBatchMut<'_, T> {
        MatrixBatchMut::of(self.batch)
    }
}

impl<T: Element> AsMatrixBatchMut<T> for Matrix<T> {
    fn as_matrix_batch_mut(&mut self) -> MatrixBatchMut<'_, T> {
        self.view_mut().into()
    }
}

impl<T: Element> AsMatrixBatchMut<T> for MatrixViewMut<'_, T> {
    fn as_matrix_batch_mut(&mut self) -> MatrixBatchMut<'_, T> {
        self.view_mut().into()
    }
}

impl<'a, T: Element> From<MatrixViewMut<'a, T>> for MatrixBatchMut<'a, T> {
    fn from(matrix: MatrixViewMut<'a, T>) -> Self {
        Self::of(matrix.into_view().into())
    }
}

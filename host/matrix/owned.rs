//! A matrix that owns its memory.

use super::methods::{getters, parts_mut};
use super::shape::{MatrixShape, Order};
use super::view::{IntoMatrixView, MatrixView};
use super::view_mut::{AsMatrixViewMut, MatrixViewMut};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ONE_FOR_EACH_OF_MATRIX, Outcome, Result, check_length};
use std::ops::RangeBounds;

/// A matrix in the memory of one device, row-major unless created in another [`Order`].
///
/// Products accept operands in either order. [`Matrix::t`] and [`Matrix::slice`] return a transpose or a part, without
/// a copy.
///
/// ```
/// use tilewright::Device;
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let a = device.matrix((2, 3), &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let gram = device.matmul(&a, a.t())?;
/// assert_eq!(gram.to_vec()?, [14.0, 32.0, 32.0, 77.0]);
/// let corner = device.matmul(a.slice(0..1, 1..3)?, a.slice(.., 0..2)?)?;
/// assert_eq!(corner.to_vec()?, [14.0, 19.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Matrix<T: Element> {
    buffer: Buffer<T>,
    rows: usize,
    cols: usize,
    order: Order,
}

impl Device {
    /// Copies `data` to a new matrix, in the shape's order: row after row for `(rows, cols)`.
    ///
    /// ```
    /// use tilewright::{Device, Order};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let rows = device.matrix((2, 3), &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let columns = device.matrix((2, 3, Order::ColumnMajor), &[1.0_f32, 4.0, 2.0, 5.0, 3.0, 6.0])?;
    /// assert_eq!(rows.to_vec()?, columns.to_vec()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `data` does not have `rows * cols` elements;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if that product overflows; and those of [any
    /// call](crate#errors).
    pub fn matrix<T: Element>(
        &self,
        shape: impl Into<MatrixShape>,
        data: &[T],
    ) -> Result<Matrix<T>> {
        Matrix::uploaded(self, shape.into(), data).during("matrix")
    }

    /// Allocates a matrix with all bytes zero.
    ///
    /// # Errors
    /// The errors of [`Device::zeros`].
    pub fn matrix_zeros<T: Element>(&self, shape: impl Into<MatrixShape>) -> Result<Matrix<T>> {
        Matrix::zeroed(self, shape.into()).during("matrix_zeros")
    }

    /// Allocates a matrix with unspecified elements, for a kernel that writes all of them.
    ///
    /// # Errors
    /// The errors of [`Device::zeros`].
    pub fn matrix_uninit<T: Element>(&self, shape: impl Into<MatrixShape>) -> Result<Matrix<T>> {
        Matrix::uninit(self, shape.into()).during("matrix_uninit")
    }
}

impl<T: Element> Buffer<T> {
    /// Turns the buffer into a matrix without a copy; the elements are in the shape's order.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if the buffer does not have `rows * cols` elements;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if that product overflows.
    pub fn into_matrix(self, shape: impl Into<MatrixShape>) -> Result<Matrix<T>> {
        Matrix::of_buffer(self, shape.into()).during("into_matrix")
    }
}

impl<T: Element> Matrix<T> {
    pub(crate) fn uploaded(device: &Device, shape: MatrixShape, data: &[T]) -> Outcome<Self> {
        check_shape("the data", shape, data.len())?;
        Self::of_buffer(Buffer::uploaded(device, data)?, shape)
    }

    pub(crate) fn zeroed(device: &Device, shape: MatrixShape) -> Outcome<Self> {
        Self::of_buffer(Buffer::zeroed(device, shape.checked_len()?)?, shape)
    }

    pub(crate) fn uninit(device: &Device, shape: MatrixShape) -> Outcome<Self> {
        Self::of_buffer(Buffer::uninit(device, shape.checked_len()?)?, shape)
    }

    fn of_buffer(buffer: Buffer<T>, shape: MatrixShape) -> Outcome<Self> {
        check_shape("the buffer", shape, buffer.len())?;
        let MatrixShape { rows, cols, order } = shape;
        Ok(Self {
            buffer,
            rows,
            cols,
            order,
        })
    }

    /// Names the matrix in messages and reports, as [`Buffer::named`] does.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        let buffer = self.buffer.named(name);
        Self { buffer, ..self }
    }

    getters!(self => self.view(), &Device);

    parts_mut!();

    /// Borrows the matrix, as an operand of products.
    #[must_use]
    pub fn view(&self) -> MatrixView<'_, T> {
        MatrixView::new(&self.buffer, (self.rows, self.cols, self.order).into())
    }

    /// Borrows the matrix mutably.
    #[must_use]
    pub fn view_mut(&mut self) -> MatrixViewMut<'_, T> {
        MatrixViewMut::of_elements(self.view())
    }

    /// Borrows some rows and columns, without a copy.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let matrix = Device::simulator().matrix((2, 3), &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(matrix.slice(.., 1..)?.to_vec()?, [2, 3, 5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if a range goes past the last row or column.
    pub fn slice(
        &self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Result<MatrixView<'_, T>> {
        self.view().slice(rows, columns)
    }

    /// The transpose, without a copy: the same elements in the other order.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = device.matrix((2, 3), &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let gram = device.matmul(a.t(), &a)?;
    /// assert_eq!(gram.shape(), (3, 3));
    /// assert_eq!(gram.to_vec()?[..3], [17.0, 22.0, 27.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn t(&self) -> MatrixView<'_, T> {
        self.view().t()
    }

    /// Turns the matrix into its transpose, without a copy: the same elements in the other order.
    #[must_use]
    pub fn into_transposed(self) -> Self {
        Self {
            rows: self.cols,
            cols: self.rows,
            order: self.order.transposed(),
            buffer: self.buffer,
        }
    }

    /// The elements in the matrix's [`order`](Self::order).
    #[must_use]
    pub fn as_buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    /// The buffer, for kernels to write. It does not leave the library, because a mutable reference could replace
    /// it by a buffer of another length.
    pub(crate) fn buffer_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }

    /// Overwrites all elements with those of `source`, in the matrix's [`order`](Self::order).
    ///
    /// # Errors
    /// The errors of [`Buffer::copy_from_slice`].
    pub fn copy_from_slice(&mut self, source: &[T]) -> Result<()> {
        self.buffer.copy_from_slice(source)
    }

    /// Overwrites all bytes with zero.
    ///
    /// # Errors
    /// The errors of [`Buffer::fill_zero`].
    pub fn fill_zero(&mut self) -> Result<()> {
        self.buffer.fill_zero()
    }

    /// The elements in the matrix's [`order`](Self::order), without the shape.
    #[must_use]
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }

    /// Copies the elements to host memory, row after row.
    ///
    /// The host reorders the elements of a column-major matrix.
    ///
    /// # Errors
    /// The errors of [`Buffer::to_vec`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.view().to_vec()
    }
}

pub(crate) fn check_shape(what: &str, shape: MatrixShape, found: usize) -> Outcome<()> {
    check_length(what, found, shape.checked_len()?, ONE_FOR_EACH_OF_MATRIX)
}

impl<'a, T: Element> IntoMatrixView<'a, T> for &'a Matrix<T> {}

impl<'a, T: Element> From<&'a Matrix<T>> for MatrixView<'a, T> {
    fn from(matrix: &'a Matrix<T>) -> Self {
        matrix.view()
    }
}

impl<'a, T: Element> From<&'a mut Matrix<T>> for MatrixViewMut<'a, T> {
    fn from(matrix: &'a mut Matrix<T>) -> Self {
        matrix.view_mut()
    }
}

impl<T: Element> AsMatrixViewMut<T> for Matrix<T> {
    fn as_matrix_view_mut(&mut self) -> MatrixViewMut<'_, T> {
        self.view_mut()
    }
}

//! Buffers as matrices, without a copy.

use super::copy::check_room;
use super::owned::check_shape;
use super::shape::{MatrixShape, Order};
use super::view::MatrixView;
use super::view_mut::MatrixViewMut;
use crate::buffer::{BufferView, BufferViewMut};
use crate::element::Element;
use crate::error::{During, Outcome, Result};

impl<'a, T: Element> BufferView<'a, T> {
    /// Views the elements as a matrix of one column, without a copy.
    ///
    /// Use it as an operand of [`Device::matmul`](crate::Device::matmul). Its transpose is a row.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[1.0_f32, 2.0])?;
    /// let x = x.view().as_column();
    /// assert_eq!(device.matmul(x, x.t())?.to_vec()?, [1.0, 2.0, 2.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn as_column(self) -> MatrixView<'a, T> {
        let shape = MatrixShape::from((self.len(), 1, Order::ColumnMajor));
        MatrixView::of_elements(self.holder(), self.device_address(), shape, self.len())
    }

    /// Views the elements as a matrix, without a copy, in the shape's order.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[1.0_f32, 2.0, 3.0, 4.0])?;
    /// let x = x.view().as_matrix((2, 2))?;
    /// assert_eq!(device.matmul(x, x)?.to_vec()?, [7.0, 10.0, 15.0, 22.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if the view does not have `rows * cols` elements;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if that product overflows.
    pub fn as_matrix(self, shape: impl Into<MatrixShape>) -> Result<MatrixView<'a, T>> {
        let shape = shape.into();
        let checked = check_shape("the buffer", shape, self.len());
        checked.during("as_matrix")?;
        let (holder, address) = (self.holder(), self.device_address());
        Ok(MatrixView::of_elements(
            holder,
            address,
            shape,
            shape.row_len(),
        ))
    }

    /// Views some of the elements as a matrix whose rows start `leading_dimension` elements apart.
    ///
    /// For a column-major shape, `leading_dimension` separates columns. It must be at least the length of a row. If
    /// there is at most one row, a value beyond the length of the view counts as that length.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let x = Device::simulator().upload(&[1, 2, 0, 3, 4])?;
    /// assert_eq!(x.view().as_matrix_strided((2, 2), 3)?.to_vec()?, [1, 2, 3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::LeadingDimension`](crate::ErrorKind::LeadingDimension) if `leading_dimension` is less than the
    /// length of a row; [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if the view ends before the last
    /// element.
    pub fn as_matrix_strided(
        self,
        shape: impl Into<MatrixShape>,
        leading_dimension: usize,
    ) -> Result<MatrixView<'a, T>> {
        self.strided(shape.into(), leading_dimension)
            .during("as_matrix_strided")
    }

    fn strided(self, shape: MatrixShape, leading_dimension: usize) -> Outcome<MatrixView<'a, T>> {
        let (holder, address) = (self.holder(), self.device_address());
        let matrix = |apart| MatrixView::of_elements(holder, address, shape, apart);
        let lines = matrix(leading_dimension).lines();
        check_room("the buffer", lines, leading_dimension, self.len())?;
        // No line starts past the end, and kernels compute with the distance.
        Ok(matrix(leading_dimension.min(self.len()).max(lines.len)))
    }
}

impl<'a, T: Element> BufferViewMut<'a, T> {
    /// Views the elements as a matrix of one column, without a copy, for a product to write.
    #[must_use]
    pub fn into_column(self) -> MatrixViewMut<'a, T> {
        MatrixViewMut::of_elements(self.into_view().as_column())
    }

    /// Views the elements as a matrix, without a copy, for a product to write.
    ///
    /// # Errors
    /// The errors of [`BufferView::as_matrix`].
    pub fn into_matrix(self, shape: impl Into<MatrixShape>) -> Result<MatrixViewMut<'a, T>> {
        self.into_view()
            .as_matrix(shape)
            .map(MatrixViewMut::of_elements)
    }

    /// Views some of the elements as a matrix whose rows start `leading_dimension` elements apart, for a product to
    /// write.
    ///
    /// # Errors
    /// The errors of [`BufferView::as_matrix_strided`].
    pub fn into_matrix_strided(
        self,
        shape: impl Into<MatrixShape>,
        leading_dimension: usize,
    ) -> Result<MatrixViewMut<'a, T>> {
        let view = self.into_view().as_matrix_strided(shape, leading_dimension);
        view.map(MatrixViewMut::of_elements)
    }
}

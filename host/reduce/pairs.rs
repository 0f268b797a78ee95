//! Dot products of the rows, columns and segments of two operands.

use super::operations::ReduciblePairs;
use super::ops::Dot;
use super::segments::Segments;
use crate::buffer::{Buffer, BufferViewMut, IntoBufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result, check_shapes};
use crate::matrix::{IntoMatrixView, MatrixView, in_one_order};

impl Device {
    /// The dot product of each row of `x` with the same row of `y`, in one launch.
    ///
    /// `x` and `y` are matrices or views of the same shape. The result has one element for each row.
    ///
    /// Floats are multiplied and added in f64, and rounded once to the result's type. Integers wrap in 64 bits. The
    /// pairs are combined in the tree of a row ([`Device::reduce_rows`]), which depends on the length alone. So the
    /// bits are the same in either order of the matrices, in every run and on every device ([docs/reductions.md]). The
    /// bits may differ from those of [`Device::reduce_dot`].
    ///
    /// [docs/reductions.md]: https://github.com/tilewright/tilewright/blob/main/docs/reductions.md
    ///
    /// Both matrices must have the same order, unless they have a single row or column.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.matrix((2, 3), &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let y = device.matrix((2, 3), &[1.0_f32, 10.0, 100.0, 1.0, 10.0, 100.0])?;
    /// assert_eq!(device.reduce_dot_rows(&x, &y)?.to_vec()?, [321.0, 654.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if the matrices have different shapes;
    /// [`ErrorKind::OrderMismatch`](crate::ErrorKind::OrderMismatch) if they have different orders;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if one is on another device;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if the launch needs more than 2^31 - 1 blocks;
    /// [`ErrorKind::NoModule`](crate::ErrorKind::NoModule), and those of [`Device::zeros`].
    #[doc(alias = "vecdot")]
    #[doc(alias = "batched dot")]
    pub fn reduce_dot_rows<'m, T: ReduciblePairs<Dot>>(
        &self,
        x: impl IntoMatrixView<'m, T>,
        y: impl IntoMatrixView<'m, T>,
    ) -> Result<Buffer<T::Output>> {
        let rows = self.paired(x.into(), y.into());
        rows.and_then(|rows| self.rows_reduced::<Dot, T, 2>(rows))
            .during("reduce_dot_rows")
    }

    /// The dot product of each column of `x` with the same column of `y`: [`Device::reduce_dot_rows`] for columns.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.matrix((2, 3), &[1, 2, 3, 4, 5, 6])?;
    /// let y = device.matrix((2, 3), &[10, 10, 10, 1, 1, 1])?;
    /// assert_eq!(device.reduce_dot_columns(&x, &y)?.to_vec()?, [14_i64, 25, 36]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::reduce_dot_rows`].
    #[doc(alias = "vecdot")]
    #[doc(alias = "batched dot")]
    pub fn reduce_dot_columns<'m, T: ReduciblePairs<Dot>>(
        &self,
        x: impl IntoMatrixView<'m, T>,
        y: impl IntoMatrixView<'m, T>,
    ) -> Result<Buffer<T::Output>> {
        let columns = self.paired(x.into(), y.into()).map(transposed);
        columns
            .and_then(|columns| self.rows_reduced::<Dot, T, 2>(columns))
            .during("reduce_dot_columns")
    }

    /// Writes the dot product of each row of `x` with the same row of `y` to `values`, without waiting.
    ///
    /// Work that is submitted later sees the products.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `values` does not have an element for each row, and
    /// those of [`Device::reduce_dot_rows`].
    pub fn reduce_dot_rows_into<'m, 'r, T: ReduciblePairs<Dot>>(
        &self,
        x: impl IntoMatrixView<'m, T>,
        y: impl IntoMatrixView<'m, T>,
        values: impl Into<BufferViewMut<'r, T::Output>>,
    ) -> Result<()> {
        let rows = self.paired(x.into(), y.into());
        rows.and_then(|rows| self.rows_reduced_into::<Dot, T, 2>(rows, values.into()))
            .during("reduce_dot_rows_into")
    }

    /// Writes the dot product of each column of `x` with the same column of `y` to `values`, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `values` does not have an element for each column,
    /// and those of [`Device::reduce_dot_rows`].
    pub fn reduce_dot_columns_into<'m, 'r, T: ReduciblePairs<Dot>>(
        &self,
        x: impl IntoMatrixView<'m, T>,
        y: impl IntoMatrixView<'m, T>,
        values: impl Into<BufferViewMut<'r, T::Output>>,
    ) -> Result<()> {
        let columns = self.paired(x.into(), y.into()).map(transposed);
        columns
            .and_then(|columns| self.rows_reduced_into::<Dot, T, 2>(columns, values.into()))
            .during("reduce_dot_columns_into")
    }

    /// The dot product of each segment of `x` with the same segment of `y`.
    ///
    /// `x` and `y` are buffers or slices of the same length. The result has one element for each segment; it is 0 for a
    /// segment without elements. A segment gives the same bits as a row of its length ([`Device::reduce_dot_rows`]),
    /// wherever it lies and whatever the other segments hold.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[1.0_f32, 2.0, 3.0, 4.0])?;
    /// let y = device.upload(&[1.0_f32, 10.0, 100.0, 1000.0])?;
    /// let segments = device.segments(&[0, 1, 1, 4])?;
    /// let products = device.reduce_dot_segments(&x, &y, &segments)?;
    /// assert_eq!(products.to_vec()?, [1.0, 0.0, 4320.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `y` is not as long as `x`;
    /// [`ErrorKind::InvalidOffsets`](crate::ErrorKind::InvalidOffsets) if a segment ends past the end of `x`;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `x`, `y` or the segments are on another device;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if the launch needs more than 2^31 - 1 blocks;
    /// [`ErrorKind::NoModule`](crate::ErrorKind::NoModule), and those of [`Device::zeros`].
    pub fn reduce_dot_segments<'x, T: ReduciblePairs<Dot>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        y: impl IntoBufferView<'x, T>,
        segments: &Segments,
    ) -> Result<Buffer<T::Output>> {
        self.segments_reduced::<Dot, T, 2>([x.into(), y.into()], segments)
            .during("reduce_dot_segments")
    }

    /// Writes the dot product of each segment of `x` with the same segment of `y` to `values`, without waiting.
    ///
    /// Work that is submitted later sees the products.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `values` does not have an element for each segment,
    /// and those of [`Device::reduce_dot_segments`].
    pub fn reduce_dot_segments_into<'x, 'r, T: ReduciblePairs<Dot>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        y: impl IntoBufferView<'x, T>,
        segments: &Segments,
        values: impl Into<BufferViewMut<'r, T::Output>>,
    ) -> Result<()> {
        self.segments_reduced_into::<Dot, T, 2>([x.into(), y.into()], segments, values.into())
            .during("reduce_dot_segments_into")
    }
}

impl Device {
    /// Both matrices in the same order, if they are on this device and have the same shape.
    fn paired<'m, T: Element>(
        &self,
        x: MatrixView<'m, T>,
        y: MatrixView<'m, T>,
    ) -> Outcome<[MatrixView<'m, T>; 2]> {
        self.check_matrices([x, y])?;
        check_shapes(["x", "y"], x.shape(), y.shape())?;
        // Empty matrices have no order to compare.
        if x.is_empty() {
            return Ok([x, x]);
        }
        in_one_order(x, y).map(Into::into)
    }
}

/// The transposes of both matrices.
fn transposed<T: Element>(matrices: [MatrixView<'_, T>; 2]) -> [MatrixView<'_, T>; 2] {
    matrices.map(|matrix| matrix.t())
}

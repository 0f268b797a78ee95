//! Matrices borrowed for writing.

use super::methods::{getters, parts_mut};
use super::view::{IntoMatrixView, MatrixView, debug};
use crate::buffer::BufferViewMut;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use crate::holder::Written;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// A mutably borrowed matrix in the memory of one device.
///
/// It is a [`Matrix`](crate::Matrix), some of its rows and columns, or the transpose of either. Products write its
/// elements, but nothing in the gaps between its rows.
///
/// [`split_rows_at_mut`](crate::Matrix::split_rows_at_mut) and
/// [`split_columns_at_mut`](crate::Matrix::split_columns_at_mut) return parts that share no element. One part of a
/// matrix can then be an operand of a product, and another part its result:
///
/// ```
/// use tilewright::Device;
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let scale = device.matrix((2, 2), &[10.0_f32, 0.0, 0.0, 100.0])?;
/// let mut both = device.matrix((2, 4), &[1.0, 2.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0])?;
/// let (left, mut right) = both.split_columns_at_mut(2)?;
/// device.matmul_into(&left, &scale, &mut right)?;
/// assert_eq!(both.to_vec()?, [1.0, 2.0, 10.0, 200.0, 3.0, 4.0, 30.0, 400.0]);
/// # Ok(())
/// # }
/// ```
pub struct MatrixViewMut<'a, T: Element> {
    /// No other view in use shares an element with it.
    view: MatrixView<'a, T>,
    borrow: PhantomData<&'a mut [T]>,
}

/// The result of a call: a [`Matrix`](crate::Matrix) or a [`MatrixViewMut`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a matrix of `{T}` that can be written",
    label = "not a `Matrix<{T}>` or a `MatrixViewMut<{T}>`",
    note = "results are written to `&mut Matrix<T>` or `&mut MatrixViewMut<T>`, of the operands' type"
)]
pub trait AsMatrixViewMut<T: Element> {
    /// Borrows all elements mutably.
    fn as_matrix_view_mut(&mut self) -> MatrixViewMut<'_, T>;
}

impl<T: Element> AsMatrixViewMut<T> for MatrixViewMut<'_, T> {
    fn as_matrix_view_mut(&mut self) -> MatrixViewMut<'_, T> {
        self.view_mut()
    }
}

impl<'a, T: Element> MatrixViewMut<'a, T> {
    /// The elements of `view` are borrowed mutably, and no other view has them.
    pub(crate) fn of_elements(view: MatrixView<'a, T>) -> Self {
        Self {
            view,
            borrow: PhantomData,
        }
    }

    /// Borrows the elements for reading.
    #[must_use]
    pub fn view(&self) -> MatrixView<'_, T> {
        self.view
    }

    /// Reborrows the elements, so that this view can be used again after a call.
    #[must_use]
    pub fn view_mut(&mut self) -> MatrixViewMut<'_, T> {
        MatrixViewMut::of_elements(self.view)
    }

    getters!(self => self.view, &'a Device);

    parts_mut!();

    /// The transpose, borrowed for reading.
    #[must_use]
    pub fn t(&self) -> MatrixView<'_, T> {
        self.view.t()
    }

    /// Turns the view into a view of the transpose, without a copy.
    #[must_use]
    pub fn into_transposed(self) -> Self {
        Self::of_elements(self.view.t())
    }

    /// The same elements, as those of another stream of their device.
    pub(crate) fn in_stream_of(self, device: &'a Device) -> Self {
        Self::of_elements(self.view.in_stream_of(device))
    }

    /// The elements, as the result of a call.
    pub(crate) fn written(&self) -> Written<'a> {
        let lines = self.view.lines();
        let elements = lines.count.saturating_mul(lines.len);
        let bytes = elements.saturating_mul(size_of::<T>());
        self.view.holder().written(bytes)
    }

    /// The same elements, no longer written through this view.
    pub(super) fn into_view(self) -> MatrixView<'a, T> {
        self.view
    }

    /// Some rows and columns, borrowed for reading.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if a range goes past the last row or column.
    pub fn slice(
        &self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Result<MatrixView<'_, T>> {
        self.view.slice(rows, columns)
    }

    pub(crate) fn into_part(
        self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Outcome<Self> {
        self.view.part(rows, columns).map(Self::of_elements)
    }

    pub(crate) fn into_slice(
        self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Result<Self> {
        self.into_part(rows, columns).during("slice_mut")
    }

    /// The elements as part of a buffer, in the view's order; `None` if there are gaps.
    #[must_use]
    pub fn as_buffer_view_mut(&mut self) -> Option<BufferViewMut<'_, T>> {
        let elements = self.view.as_buffer_view()?;
        // SAFETY: no other view has the elements: this one is borrowed mutably, and shares none.
        Some(unsafe { BufferViewMut::of_view(elements) })
    }

    /// Two views without a common row, so without a common element.
    pub(super) fn into_row_parts(self, mid: usize) -> Result<(Self, Self)> {
        let parts = || Ok((self.view.part(..mid, ..)?, self.view.part(mid.., ..)?));
        let (above, below) = parts().during("split_rows_at_mut")?;
        Ok((Self::of_elements(above), Self::of_elements(below)))
    }

    /// Two views without a common column, so without a common element; in memory, each lies between the rows of the
    /// other.
    pub(super) fn into_column_parts(self, mid: usize) -> Result<(Self, Self)> {
        let parts = || Ok((self.view.part(.., ..mid)?, self.view.part(.., mid..)?));
        let (left, right) = parts().during("split_columns_at_mut")?;
        Ok((Self::of_elements(left), Self::of_elements(right)))
    }
}

impl<'a, T: Element> IntoMatrixView<'a, T> for &'a MatrixViewMut<'_, T> {}

impl<'a, T: Element> From<&'a MatrixViewMut<'_, T>> for MatrixView<'a, T> {
    fn from(view: &'a MatrixViewMut<'_, T>) -> Self {
        view.view()
    }
}

/// Shows the shape and the address, not the elements: those are on the device.
impl<T: Element> fmt::Debug for MatrixViewMut<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(formatter, "MatrixViewMut", self.view)
    }
}

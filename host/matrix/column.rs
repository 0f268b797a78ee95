//! Buffers as matrices of one column.

use super::view::MatrixView;
use super::view_mut::MatrixViewMut;
use crate::buffer::{BufferView, BufferViewMut};
use crate::element::Element;

impl<'a, T: Element> BufferView<'a, T> {
    /// Views the elements as a matrix of one column, without a copy.
    ///
    /// It is an operand of [`Device::matmul`](crate::Device::matmul). Its transpose is a row.
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
        MatrixView::column(self.device(), self.device_address(), self.len())
    }
}

impl<'a, T: Element> BufferViewMut<'a, T> {
    /// Views the elements as a matrix of one column, without a copy, for a product to write.
    #[must_use]
    pub fn into_column(self) -> MatrixViewMut<'a, T> {
        MatrixViewMut::of_elements(self.into_view().as_column())
    }
}

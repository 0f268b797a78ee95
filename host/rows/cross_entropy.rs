//! Cross entropy of classes, and its gradient.

use super::element::RowElement;
use super::operands::Rows;
use super::scores::{OfRows, Results};
use crate::buffer::{Buffer, BufferView, BufferViewMut, IntoBufferView};
use crate::device::Device;
use crate::error::{During, Outcome, Result};
use crate::matrix::{AsMatrixViewMut, IntoMatrixView, MatrixView};

impl Device {
    /// The cross entropy of each row of `scores` and its class: -[`log_softmax`](Self::log_softmax) of the element
    /// with the class's number, in f32.
    ///
    /// A row whose class is [`IGNORED_CLASS`](crate::IGNORED_CLASS) has the loss 0. Another class that is not the
    /// number of a column gives NaN. The mean over the rows is [`Device::reduce_mean`].
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let scores = device.matrix((2, 2), &[0.0_f32, 0.0, 1000.0, 0.0])?;
    /// let classes = device.upload(&[1_u32, 0])?;
    /// let losses = device.cross_entropy(&scores, &classes)?;
    /// assert_eq!(losses.to_vec()?, [2_f32.ln(), 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if there is not a class for each row, and those of
    /// [`Device::softmax`].
    pub fn cross_entropy<'m, 'c, T: RowElement>(
        &self,
        scores: impl IntoMatrixView<'m, T>,
        classes: impl IntoBufferView<'c, u32>,
    ) -> Result<Buffer<f32>> {
        self.losses(scores.into(), classes.into())
            .during("cross_entropy")
    }

    /// Writes [`Device::cross_entropy`] to `losses`, a buffer or a slice of one, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `losses` does not have an element for each row,
    /// and those of [`Device::cross_entropy`].
    pub fn cross_entropy_into<'m, 'c, 'l, T: RowElement>(
        &self,
        scores: impl IntoMatrixView<'m, T>,
        classes: impl IntoBufferView<'c, u32>,
        losses: impl Into<BufferViewMut<'l, f32>>,
    ) -> Result<()> {
        let of_rows = of_rows(classes.into(), losses.into());
        self.softmax_rows(Rows::Read(scores.into()), Results::PLAIN, of_rows)
            .during("cross_entropy_into")
    }

    /// Writes [`Device::cross_entropy`] to `losses`, and its gradient times `scale` to `gradient`, in one pass and
    /// without waiting.
    ///
    /// The gradient of a row is its [`Device::softmax`], less 1 at its class. With 1 / rows for `scale`, it is that of
    /// the mean loss. Rows with [`IGNORED_CLASS`](crate::IGNORED_CLASS) have the gradient 0, but NaN at
    /// positive infinities, and in the whole row if an element is NaN.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let scores = device.matrix((1, 2), &[0.0_f32, 0.0])?;
    /// let classes = device.upload(&[1_u32])?;
    /// let mut losses = device.zeros(1)?;
    /// let mut gradient = device.matrix_zeros((1, 2))?;
    /// device.cross_entropy_with_gradient(&scores, &classes, 1.0, &mut losses, &mut gradient)?;
    /// assert_eq!(gradient.to_vec()?, [0.5, -0.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if the gradient has another shape than the
    /// scores, and those of [`Device::cross_entropy_into`].
    pub fn cross_entropy_with_gradient<'m, 'c, 'l, T: RowElement>(
        &self,
        scores: impl IntoMatrixView<'m, T>,
        classes: impl IntoBufferView<'c, u32>,
        scale: f32,
        losses: impl Into<BufferViewMut<'l, f32>>,
        gradient: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let rows = Rows::Written(scores.into(), gradient.as_matrix_view_mut());
        let of_rows = of_rows(classes.into(), losses.into());
        self.softmax_rows(rows, scaled(scale), of_rows)
            .during("cross_entropy_with_gradient")
    }

    /// Like [`Device::cross_entropy_with_gradient`], but the gradient replaces the scores.
    ///
    /// # Errors
    /// The errors of [`Device::cross_entropy_into`].
    pub fn cross_entropy_in_place<'c, 'l, T: RowElement>(
        &self,
        scores: &mut impl AsMatrixViewMut<T>,
        classes: impl IntoBufferView<'c, u32>,
        scale: f32,
        losses: impl Into<BufferViewMut<'l, f32>>,
    ) -> Result<()> {
        let rows = Rows::InPlace(scores.as_matrix_view_mut());
        let of_rows = of_rows(classes.into(), losses.into());
        self.softmax_rows(rows, scaled(scale), of_rows)
            .during("cross_entropy_in_place")
    }

    fn losses<T: RowElement>(
        &self,
        scores: MatrixView<'_, T>,
        classes: BufferView<'_, u32>,
    ) -> Outcome<Buffer<f32>> {
        let mut losses = Buffer::uninit(self, scores.rows())?;
        let of_rows = of_rows(classes, losses.view_mut());
        self.softmax_rows(Rows::Read(scores), Results::PLAIN, of_rows)?;
        Ok(losses)
    }
}

fn of_rows<'a>(classes: BufferView<'a, u32>, losses: BufferViewMut<'a, f32>) -> OfRows<'a> {
    OfRows {
        classes: Some(classes),
        values: Some(losses),
    }
}

fn scaled(scale: f32) -> Results {
    Results {
        scale,
        ..Results::PLAIN
    }
}

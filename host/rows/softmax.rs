//! Softmax, its logarithm, and the logarithm of the sum.

use super::element::RowElement;
use super::operands::Rows;
use super::scores::{OfRows, Results};
use crate::buffer::{Buffer, BufferViewMut};
use crate::device::Device;
use crate::error::{During, Outcome, Result};
use crate::matrix::{AsMatrixViewMut, IntoMatrixView, Matrix, MatrixView};

/// Logarithms of the results.
const LOGARITHMIC: Results = Results {
    is_logarithmic: true,
    ..Results::PLAIN
};

impl Device {
    /// The softmax of each row of `matrix`: e^(x - m) / s, with the row's largest element m and the sum s of the
    /// numerators.
    ///
    /// `matrix` is `&matrix` or a view with contiguous rows. It is computed in f32 and rounded once to the type of the
    /// elements. Rows of up to 262,144 elements, of f16 and bf16 131,072, are read once on compute capability 9.0, and
    /// of up to 32,768 on other devices. Of longer ones, the part that fits shared memory is read once.
    ///
    /// The bits of a row depend on its elements and their number alone: not on other rows, the leading dimension, the
    /// run or the device.
    ///
    /// A row with a NaN or with positive infinity is NaN, and so is a row of negative infinities. Other negative
    /// infinities give 0.
    ///
    /// # Errors of the results
    /// With u = 2^-24, an element y' in f32 has |y' - y| <= (d + ln n + h + c) u y + 2^-125: d is the element's
    /// distance from the largest one, n the length of the row, h its [`row_height`](crate::row_height), and c = 8, or 14
    /// for rows of more than 32,768 elements. f16 and bf16 add half a unit in the last place.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let scores = device.matrix((2, 3), &[0.0_f32, 0.0, 0.0, 1.0, f32::NEG_INFINITY, 1.0])?;
    /// let weights = device.softmax(&scores)?.to_vec()?;
    /// assert_eq!(weights[..3], [1.0 / 3.0; 3]);
    /// assert_eq!(weights[3..], [0.5, 0.0, 0.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) if the rows are not contiguous;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `matrix` is on another device;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) for more than 2^31 - 1 blocks;
    /// [`ErrorKind::NoModule`](crate::ErrorKind::NoModule), and those of [`Device::zeros`].
    pub fn softmax<'m, T: RowElement>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
    ) -> Result<Matrix<T>> {
        self.softmax_to_new(matrix.into(), Results::PLAIN)
            .during("softmax")
    }

    /// Writes [`Device::softmax`] of `matrix` to `results`, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if the shapes differ, and those of
    /// [`Device::softmax`].
    pub fn softmax_into<'m, T: RowElement>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        results: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let rows = Rows::Written(matrix.into(), results.as_matrix_view_mut());
        self.softmax_rows(rows, Results::PLAIN, OfRows::NONE)
            .during("softmax_into")
    }

    /// Replaces the rows of `matrix` by their [`Device::softmax`], without waiting.
    ///
    /// # Errors
    /// The errors of [`Device::softmax`].
    pub fn softmax_in_place<T: RowElement>(
        &self,
        matrix: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let rows = Rows::InPlace(matrix.as_matrix_view_mut());
        self.softmax_rows(rows, Results::PLAIN, OfRows::NONE)
            .during("softmax_in_place")
    }

    /// The natural logarithm of [`Device::softmax`]: x - m - ln s.
    ///
    /// With the names of [`Device::softmax`], |y' - y| <= (3 |y| + ln n + h + c) u. It stays finite where softmax is 0,
    /// unless the element is negative infinity.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let scores = device.matrix((1, 2), &[1000.0_f32, 0.0])?;
    /// assert_eq!(device.log_softmax(&scores)?.to_vec()?, [0.0, -1000.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::softmax`].
    pub fn log_softmax<'m, T: RowElement>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
    ) -> Result<Matrix<T>> {
        self.softmax_to_new(matrix.into(), LOGARITHMIC)
            .during("log_softmax")
    }

    /// Writes [`Device::log_softmax`] of `matrix` to `results`, without waiting.
    ///
    /// # Errors
    /// The errors of [`Device::softmax_into`].
    pub fn log_softmax_into<'m, T: RowElement>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        results: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let rows = Rows::Written(matrix.into(), results.as_matrix_view_mut());
        self.softmax_rows(rows, LOGARITHMIC, OfRows::NONE)
            .during("log_softmax_into")
    }

    /// Replaces the rows of `matrix` by their [`Device::log_softmax`], without waiting.
    ///
    /// # Errors
    /// The errors of [`Device::softmax`].
    pub fn log_softmax_in_place<T: RowElement>(
        &self,
        matrix: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let rows = Rows::InPlace(matrix.as_matrix_view_mut());
        self.softmax_rows(rows, LOGARITHMIC, OfRows::NONE)
            .during("log_softmax_in_place")
    }

    /// The logarithm of the sum of e^x over each row: m + ln s, in f32, with the names of [`Device::softmax`].
    ///
    /// It has |y' - y| <= (|y| + 2 ln n + h + c) u. A row of negative infinities, and one without elements, gives
    /// negative infinity; one with positive infinity gives that, unless it has a NaN.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let scores = device.matrix((1, 2), &[1000.0_f32, 1000.0])?;
    /// assert_eq!(device.logsumexp(&scores)?.to_vec()?, [1000.0 + 2_f32.ln()]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::softmax`].
    pub fn logsumexp<'m, T: RowElement>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
    ) -> Result<Buffer<f32>> {
        self.logsumexp_to_new(matrix.into()).during("logsumexp")
    }

    /// Writes [`Device::logsumexp`] of each row of `matrix` to `values`, a buffer or a slice of one, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `values` does not have an element for each row,
    /// and those of [`Device::softmax`].
    pub fn logsumexp_into<'m, 'v, T: RowElement>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        values: impl Into<BufferViewMut<'v, f32>>,
    ) -> Result<()> {
        self.logsumexp_to(matrix.into(), values.into())
            .during("logsumexp_into")
    }

    fn softmax_to_new<T: RowElement>(
        &self,
        matrix: MatrixView<'_, T>,
        results: Results,
    ) -> Outcome<Matrix<T>> {
        let mut y = Matrix::uninit(self, matrix.shape().into())?;
        let rows = Rows::Written(matrix, y.view_mut());
        self.softmax_rows(rows, results, OfRows::NONE)?;
        Ok(y)
    }

    fn logsumexp_to_new<T: RowElement>(&self, matrix: MatrixView<'_, T>) -> Outcome<Buffer<f32>> {
        let mut values = Buffer::uninit(self, matrix.rows())?;
        self.logsumexp_to(matrix, values.view_mut())?;
        Ok(values)
    }

    fn logsumexp_to<T: RowElement>(
        &self,
        matrix: MatrixView<'_, T>,
        values: BufferViewMut<'_, f32>,
    ) -> Outcome<()> {
        let of_rows = OfRows {
            classes: None,
            values: Some(values),
        };
        self.softmax_rows(Rows::Read(matrix), Results::PLAIN, of_rows)
    }
}

//! RMSNorm and LayerNorm.

use super::element::RowElement;
use super::normalize::{Columns, Residual};
use super::operands::Rows;
use crate::buffer::IntoBufferView;
use crate::device::Device;
use crate::error::{During, Outcome, Result};
use crate::matrix::{AsMatrixViewMut, IntoMatrixView, Matrix, MatrixView};
use crate::setters::setters;

/// A normalisation of matrix rows: by the root of the mean square, or to mean 0 and variance 1.
///
/// ```text
/// y = (x - m) / sqrt(mean of (x - m)^2 + epsilon) weight[column] + bias[column]
/// ```
///
/// m is 0 for [`rms`](Self::rms), and the row's mean for [`layer`](Self::layer). All is computed in f32 and rounded once
/// to the type of the elements; weight and bias have that type, too. A residual can be added first, in the same pass.
///
/// The bits of a row depend on its elements and their number, weight, bias and epsilon alone. Rows of up to 262,144
/// elements, of f16 and bf16 131,072, are read once on compute capability 9.0, and of up to 32,768 on other devices. Of
/// longer ones, the part that does not fit shared memory is read again. NaN and infinities follow IEEE 754; every NaN
/// is the canonical one.
///
/// # Errors of the results
/// To first order in u = 2^-24, an element y' in f32 has
/// |y' - y| <= ((h / 2 + 9) |z| + (h + 3) a) u |weight| + 2 u |bias|: z is the element before weight and bias, h the
/// [`row_height`](crate::row_height), and a the mean of |x| times the factor of the row, or 0 for [`rms`](Self::rms).
/// f16 and bf16 add half a unit in the last place.
///
/// Squares are added in f32: this holds while their sum is below 2^128, as with n elements of at most 2^63 / sqrt(n),
/// their mean plus epsilon is at least 2^-100, and for [`layer`](Self::layer) the mean of x is 0 or a normal number. A row
/// with larger squares becomes the bias.
///
/// ```
/// use tilewright::{Device, Normalization};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let tokens = device.matrix((2, 2), &[3.0_f32, 4.0, -5.0, 5.0])?;
/// let weight = device.upload(&[5.0_f32, 10.0])?;
/// let norm = Normalization::layer(0.0).weight(&weight);
/// assert_eq!(norm.run(&tokens)?.to_vec()?, [-5.0, 10.0, -5.0, 10.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[doc(alias = "RMSNorm")]
#[doc(alias = "LayerNorm")]
pub struct Normalization<'a, T: RowElement> {
    columns: Columns<'a, T>,
}

impl<'a, T: RowElement> Normalization<'a, T> {
    /// Normalises by the root of the mean square, to which `epsilon` is added: RMSNorm.
    #[must_use]
    pub fn rms(epsilon: f32) -> Self {
        Self {
            columns: Columns::new(false, epsilon),
        }
    }

    /// Normalises to mean 0 and variance 1, with `epsilon` added to the variance: LayerNorm.
    #[must_use]
    pub fn layer(epsilon: f32) -> Self {
        Self {
            columns: Columns::new(true, epsilon),
        }
    }

    setters! {
        /// Multiplies column j by `weight[j]`.
        weight(weight: impl IntoBufferView<'a, T>) => columns.weight = Some(weight.into());

        /// Adds `bias[j]` to column j.
        bias(bias: impl IntoBufferView<'a, T>) => columns.bias = Some(bias.into());
    }

    /// The normalised rows of `matrix`, in a new matrix on its device.
    ///
    /// # Errors
    /// - [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if weight or bias does not have an element for each
    ///   column;
    /// - [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) if the rows are not contiguous;
    /// - [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if the operands are on different devices;
    /// - [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) for more than 2^31 - 1 blocks;
    /// - [`ErrorKind::NoModule`](crate::ErrorKind::NoModule), and those of [`Device::zeros`].
    pub fn run<'m>(&self, matrix: impl IntoMatrixView<'m, T>) -> Result<Matrix<T>> {
        let matrix = matrix.into();
        self.in_new(matrix.device(), matrix)
            .during("Normalization::run")
    }

    /// Writes the normalised rows of `matrix` to `results`, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if the shapes differ, and those of
    /// [`run`](Self::run).
    pub fn run_into<'m>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        results: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let matrix = matrix.into();
        let rows = Rows::Written(matrix, results.as_matrix_view_mut());
        self.columns
            .normalize(matrix.device(), rows, Residual::None)
            .during("Normalization::run_into")
    }

    /// Replaces the rows of `matrix` by the normalised ones, without waiting.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn run_in_place(&self, matrix: &mut impl AsMatrixViewMut<T>) -> Result<()> {
        let matrix = matrix.as_matrix_view_mut();
        let device = matrix.device();
        self.columns
            .normalize(device, Rows::InPlace(matrix), Residual::None)
            .during("Normalization::run_in_place")
    }

    /// Writes `matrix` + `residual`, rounded to the elements' type, to `sums`, and the normalised rows of these sums to
    /// `results`, in one pass and without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if the shapes differ, and those of
    /// [`run`](Self::run).
    pub fn run_with_residual<'m, 'r>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        residual: impl IntoMatrixView<'r, T>,
        sums: &mut impl AsMatrixViewMut<T>,
        results: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let matrix = matrix.into();
        let rows = Rows::Written(matrix, results.as_matrix_view_mut());
        let residual = Rows::Written(residual.into(), sums.as_matrix_view_mut());
        self.columns
            .normalize(matrix.device(), rows, Residual::Added(residual))
            .during("Normalization::run_with_residual")
    }

    /// Like [`run_with_residual`](Self::run_with_residual), in place: the sums replace the residual, and the normalised
    /// rows the matrix.
    ///
    /// ```
    /// use tilewright::{Device, Normalization};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let mut output = device.matrix((1, 2), &[2.0_f32, 1.0])?;
    /// let mut residual = device.matrix((1, 2), &[1.0_f32, 3.0])?;
    /// Normalization::layer(0.0).run_with_residual_in_place(&mut output, &mut residual)?;
    /// assert_eq!(residual.to_vec()?, [3.0, 4.0]);
    /// assert_eq!(output.to_vec()?, [-1.0, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`run_with_residual`](Self::run_with_residual).
    pub fn run_with_residual_in_place(
        &self,
        matrix: &mut impl AsMatrixViewMut<T>,
        residual: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let matrix = matrix.as_matrix_view_mut();
        let device = matrix.device();
        let residual = Rows::InPlace(residual.as_matrix_view_mut());
        self.columns
            .normalize(device, Rows::InPlace(matrix), Residual::Added(residual))
            .during("Normalization::run_with_residual_in_place")
    }

    fn in_new(&self, device: &Device, matrix: MatrixView<'_, T>) -> Outcome<Matrix<T>> {
        let mut results = Matrix::uninit(device, matrix.shape().into())?;
        let rows = Rows::Written(matrix, results.view_mut());
        self.columns.normalize(device, rows, Residual::None)?;
        Ok(results)
    }
}

impl Device {
    /// Divides each row of `matrix` by the root of its mean square plus `epsilon`: [`Normalization::rms`].
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let tokens = device.matrix((1, 4), &[2.0_f32, -2.0, 2.0, 2.0])?;
    /// assert_eq!(device.rms_norm(&tokens, 0.0)?.to_vec()?, [1.0, -1.0, 1.0, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Normalization::run`].
    pub fn rms_norm<'m, T: RowElement>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        epsilon: f32,
    ) -> Result<Matrix<T>> {
        let norm = Normalization::rms(epsilon);
        norm.in_new(self, matrix.into()).during("rms_norm")
    }

    /// Shifts and scales each row of `matrix` to mean 0 and variance 1, with `epsilon` added to its variance:
    /// [`Normalization::layer`].
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let tokens = device.matrix((1, 2), &[5.0_f32, 7.0])?;
    /// assert_eq!(device.layer_norm(&tokens, 0.0)?.to_vec()?, [-1.0, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Normalization::run`].
    pub fn layer_norm<'m, T: RowElement>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        epsilon: f32,
    ) -> Result<Matrix<T>> {
        let norm = Normalization::layer(epsilon);
        norm.in_new(self, matrix.into()).during("layer_norm")
    }
}

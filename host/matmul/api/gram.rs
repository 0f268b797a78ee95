//! Products of a matrix with its transpose. They are symmetric, so about half is computed, and copied to the rest.

use super::element::{MatmulElement, MatmulInto};
use super::product::Matmul;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Result};
use crate::matmul::operands::Operands;
use crate::matrix::{AsMatrixViewMut, IntoMatrixBatch, IntoMatrixView, Matrix};

impl Device {
    /// The symmetric product A^T A of an M x N matrix: BLAS `syrk`, with both triangles written.
    ///
    /// The result is N x N. It takes about half the multiply-adds of [`Device::matmul`]`(a.t(), &a)`. For A A^T, call
    /// `gram(a.t())`. A may be in either [`Order`](crate::Order), and may be part of a larger matrix.
    ///
    /// The result is exactly symmetric. The outputs on and below the diagonal have the same bits as those of `matmul`;
    /// the outputs above it are copies.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// // Three observations of two variables.
    /// let a = device.matrix((3, 2), &[1.0_f32, 0.0, 2.0, 1.0, 3.0, -1.0])?;
    /// assert_eq!(device.gram(&a)?.to_vec()?, [14.0, -1.0, -1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Matmul::run`].
    #[doc(alias = "syrk")]
    #[doc(alias = "herk")]
    #[doc(alias = "covariance")]
    pub fn gram<'a, T: MatmulElement>(
        &self,
        a: impl IntoMatrixView<'a, T>,
    ) -> Result<Matrix<T::Product>> {
        Matmul::gram(a.into()).in_new(self).during("gram")
    }

    /// Writes the product of [`Device::gram`] to an existing N x N matrix, or to a part of one.
    ///
    /// C may be in either [`Order`](crate::Order). Its elements are overwritten. To write a part, pass a
    /// [`MatrixViewMut`](crate::MatrixViewMut).
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not N x N, and those of
    /// [`Matmul::run`].
    pub fn gram_into<'a, T: MatmulInto<O>, O: Element>(
        &self,
        a: impl IntoMatrixView<'a, T>,
        c: &mut impl AsMatrixViewMut<O>,
    ) -> Result<()> {
        Matmul::gram(a.into())
            .write(self, c.as_matrix_view_mut().into())
            .during("gram_into")
    }
}

impl<'a, T: MatmulElement> Matmul<'a, T> {
    /// The symmetric product A^T A of an M x N matrix, with an epilogue: [`Device::gram`] with options.
    ///
    /// For a [`MatrixBatch`](crate::MatrixBatch), it computes one product for each matrix. It computes only the outputs
    /// on and below the diagonal, scales and biases included, and copies them to the other triangle. If
    /// [`beta`](Self::beta) is not 0, C must be symmetric: only one of its triangles is read.
    ///
    /// For example, squared distances between the columns of A, computed from their squared lengths:
    ///
    /// ```
    /// use tilewright::{Device, Matmul};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let points = device.matrix((2, 3), &[0.0_f32, 3.0, 3.0, 0.0, 0.0, 4.0])?;
    /// let squares = device.upload(&[0.0_f32, 9.0, 25.0])?;
    /// let distances = Matmul::gram(&points)
    ///     .alpha(-2.0)
    ///     .row_bias(&squares)
    ///     .column_bias(&squares)
    ///     .run()?;
    /// assert_eq!(distances.to_vec()?, [0.0, 9.0, 25.0, 9.0, 0.0, 16.0, 25.0, 16.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "syrk")]
    #[must_use]
    pub fn gram(a: impl IntoMatrixBatch<'a, T>) -> Self {
        Self::of(Operands::gram(a.into()))
    }
}

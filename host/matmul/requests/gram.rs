//! Products of a matrix with its transpose, which are symmetric: about half of them is computed, and copied
//! to the other half.

use super::product::Matmul;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Result};
use crate::matmul::matrices::Operands;
use crate::matmul::types::{MatmulElement, MatmulInto};
use crate::matrix::{AsMatrixViewMut, Matrix, MatrixBatch, MatrixView};

impl Device {
    /// The product A^T A of an M x N matrix, N x N, with about half of the multiply-adds of
    /// [`Device::matmul`]`(a.t(), &a)`; A A^T is `gram(a.t())`. `syrk` of BLAS, with both triangles of the
    /// result.
    ///
    /// The result is exactly symmetric. Its outputs on and below the diagonal have the bits of that call,
    /// and those above are copies of them. A is of either [`Order`](crate::Order), or a part of a matrix.
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
    /// Those of [`Matmul::run`].
    #[doc(alias = "syrk")]
    #[doc(alias = "herk")]
    #[doc(alias = "covariance")]
    pub fn gram<'a, T: MatmulElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
    ) -> Result<Matrix<T::Product>> {
        Matmul::gram(a.into()).product(self).during("gram")
    }

    /// [`Device::gram`] into an N x N matrix of either [`Order`](crate::Order) that is there, or into a part of
    /// one ([`MatrixViewMut`](crate::MatrixViewMut)), whose elements it overwrites.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not N x N, and those of [`Matmul::run`].
    pub fn gram_into<'a, T: MatmulInto<O>, O: Element>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        c: &mut impl AsMatrixViewMut<O>,
    ) -> Result<()> {
        Matmul::gram(a.into())
            .multiply(self, c.as_matrix_view_mut().into())
            .during("gram_into")
    }
}

impl<'a, T: MatmulElement> Matmul<'a, T> {
    /// The product A^T A of an M x N matrix, N x N: [`Device::gram`] with choices; of a [`MatrixBatch`] the
    /// products of all its matrices.
    ///
    /// Of the outputs (i, j) and (j, i) the one below the diagonal is computed, with its scales and biases,
    /// and copied to the other place. Where [`beta`](Self::beta) is not 0, C has to be symmetric: one
    /// of its triangles is read.
    ///
    /// Squared distances of the columns of A, from their squared lengths:
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
    pub fn gram(a: impl Into<MatrixBatch<'a, T>>) -> Self {
        Self::of(Operands::gram(a.into()))
    }
}

//! Products whose outputs are exact dot products, rounded once.

use super::element::ChainElement;
use super::product::Matmul;
use crate::device::Device;
use crate::error::{During, Result};
use crate::matmul::arithmetic::Arithmetic;
use crate::matrix::{AsMatrixViewMut, IntoMatrixView, Matrix};

impl Device {
    /// The product A B of an M x K and a K x N matrix of f32 or f64. Each output is the exact dot product, rounded
    /// once to the nearest, ties to even.
    ///
    /// The bits depend on the elements alone: not on the order of k, the device, its compute capability, or how a
    /// product is cut into smaller ones. An operand is `&matrix`, its transpose `matrix.t()` or a part of it
    /// ([`Matrix::slice`]), in either [`Order`](crate::Order). The product is row-major.
    ///
    /// | dot product | output |
    /// |---|---|
    /// | 0, or K = 0 | +0 |
    /// | beyond the range of the type after rounding | an infinity |
    /// | with a NaN, 0 times an infinity, or infinities of both signs | the canonical NaN |
    /// | with infinities of one sign | that infinity |
    ///
    /// Intermediate sums and products neither overflow nor underflow: 1e308 times 10, minus 1e308 times 10, is 0.
    ///
    /// Elements become integers, which are multiplied modulo 10 to 21 numbers of 8 bits on the tensor cores for i8, and
    /// the Chinese remainder theorem gives an interval around the exact sum. Outputs whose interval rounds to two
    /// numbers, about one in 2000 for random elements, are computed again, one by one. With heavy cancellation that is
    /// most outputs, and the product takes many times as long. Small products compute all outputs one by one.
    ///
    /// A product of N x N matrices takes about 60 N^2 bytes of temporary memory in f64 and 36 N^2 in f32, but not more
    /// than about 9 GB beside the transpose of an operand that is not contiguous along K.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = device.matrix((1, 3), &[1e16, 1.0, -1e16])?;
    /// let ones = device.matrix((3, 1), &[1.0; 3])?;
    /// assert_eq!(device.matmul_exact(&a, &ones)?.to_vec()?, [1.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// With an epilogue: `Matmul::new(&a, &b).arithmetic(Arithmetic::Exact)`. The epilogue is applied to the rounded
    /// sum, in the type of the elements.
    ///
    /// # Errors
    /// The errors of [`Matmul::run`].
    #[doc(alias = "reproducible")]
    pub fn matmul_exact<'a, 'b, T: ChainElement>(
        &self,
        a: impl IntoMatrixView<'a, T>,
        b: impl IntoMatrixView<'b, T>,
    ) -> Result<Matrix<T>> {
        let (a, b) = (a.into(), b.into());
        let product = Matmul::new(a, b).arithmetic(Arithmetic::Exact);
        product.in_new(self).during("matmul_exact")
    }

    /// Writes the product A B to an existing M x N matrix, or to a part of one, as [`Device::matmul_exact`] computes
    /// it.
    ///
    /// C may be in either [`Order`](crate::Order). Its elements are overwritten. To write a part, pass a
    /// [`MatrixViewMut`](crate::MatrixViewMut).
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not M x N, and those of
    /// [`Matmul::run`].
    pub fn matmul_exact_into<'a, 'b, T: ChainElement>(
        &self,
        a: impl IntoMatrixView<'a, T>,
        b: impl IntoMatrixView<'b, T>,
        c: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let (a, b) = (a.into(), b.into());
        let product = Matmul::new(a, b).arithmetic(Arithmetic::Exact);
        let c = c.as_matrix_view_mut().into();
        product.write(self, c).during("matmul_exact_into")
    }
}

//! Products of a matrix and a vector.

use super::element::{MatmulElement, MatmulInto};
use super::product::Matmul;
use crate::buffer::{Buffer, BufferView, BufferViewMut, IntoBufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use crate::matrix::{IntoMatrixView, MatrixView};

impl Device {
    /// The product A x of an M x K matrix and a vector of K elements: a buffer of M elements.
    ///
    /// A is `&matrix`, its transpose `matrix.t()` or a part of it, in either [`Order`](crate::Order). It is not copied.
    /// `device.matvec(a.t(), &x)` is the product of the row x with A. [`Device::matmul`] gives the same bits if one of
    /// its operands is a vector. For an epilogue, use `Matmul::new(&a, x.as_column())`.
    ///
    /// Each element is the sum of K products, each added by a fused multiply-add: in f64 for f64, in f32 for all other
    /// floats. It is rounded once to the result's type. For f32 and f64, |y' - y| <= gamma_K |A||x|. i8 products are
    /// added in i32, which wraps on overflow. A zero sum is +0. Infinities and NaN follow the rules of
    /// [`Device::matmul_tiled`].
    ///
    /// The order of additions depends on K and the type alone. So the bits are the same on every device, for either
    /// order of the matrix, and whatever the other rows hold (`docs/products.md`).
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = device.matrix((2, 3), &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let x = device.upload(&[1.0_f32, 10.0, 100.0])?;
    /// let y = device.matvec(&a, &x)?;
    /// assert_eq!(y.to_vec()?, [321.0, 654.0]);
    /// assert_eq!(device.matvec(a.t(), &y)?.to_vec()?, [2937.0, 3912.0, 4887.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if A does not have as many columns as x has
    /// elements, and those of [`Matmul::run`].
    pub fn matvec<'a, 'x, T: MatmulElement>(
        &self,
        a: impl IntoMatrixView<'a, T>,
        x: impl IntoBufferView<'x, T>,
    ) -> Result<Buffer<T::Product>> {
        let (a, x) = (a.into(), x.into());
        self.vector_product(a, x).during("matvec")
    }

    /// Writes the product of [`Device::matvec`] to an existing buffer, or to a part of one.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if `y` does not have an element for each row
    /// of A, and those of [`Device::matvec`].
    pub fn matvec_into<'a, 'x, 'y, T: MatmulInto<O>, O: Element>(
        &self,
        a: impl IntoMatrixView<'a, T>,
        x: impl IntoBufferView<'x, T>,
        y: impl Into<BufferViewMut<'y, O>>,
    ) -> Result<()> {
        let (a, x) = (a.into(), x.into());
        let y = y.into().into_column();
        Matmul::new(a, x.as_column())
            .write(self, y.into())
            .during("matvec_into")
    }

    fn vector_product<T: MatmulElement>(
        &self,
        a: MatrixView<'_, T>,
        x: BufferView<'_, T>,
    ) -> Outcome<Buffer<T::Product>> {
        let mut y = Buffer::uninit(self, a.rows())?;
        let column = y.view_mut().into_column();
        Matmul::new(a, x.as_column()).write(self, column.into())?;
        Ok(y)
    }
}

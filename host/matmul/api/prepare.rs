//! Operands that are prepared once and used in several products.

use super::element::ChainElement;
use super::preparation::with_residues;
use super::product::Matmul;
use crate::device::Device;
use crate::error::{During, Result};
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::operands::Operands;
use crate::matmul::staging::PreparedMatrix;
use crate::matrix::{IntoMatrixBatch, IntoMatrixView};

impl Device {
    /// Prepares B once for several products: the work that each would otherwise do before it multiplies.
    ///
    /// | elements | what is done | memory |
    /// |---|---|---|
    /// | f32 | split, for tensor cores ([`Arithmetic::Split`](crate::Arithmetic::Split)) | that of B, and 8 bytes for each column |
    /// | f64 | residues, for large products; nothing if K or N rules these out | 1.8 times that of B, and its transpose if it is row-major |
    ///
    /// Products with [`Matmul::with_prepared`](crate::Matmul::with_prepared) then prepare A alone. Their bits do not
    /// change, nor does the selection of their kernels.
    ///
    /// To prepare a left operand, compute the transposed product: prepare `a.t()` as the right operand of `b.t()`,
    /// and write into a column-major matrix.
    ///
    /// ```
    /// use tilewright::{Arithmetic, Device, Matmul};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let weights = device.matrix((64, 2), &[0.25_f32; 128])?;
    /// let weights = device.prepare(&weights)?;
    /// let x = device.matrix((1, 64), &[1.0; 64])?;
    /// let product = Matmul::with_prepared(&x, &weights).arithmetic(Arithmetic::Split);
    /// assert_eq!(product.run()?.to_vec()?, [16.0, 16.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// For f32, [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) if B has fewer than 63 rows or too many for the
    /// tensor-core path, or if the device has no kernels for split operands;
    /// [`ErrorKind::DriverTooOld`](crate::ErrorKind::DriverTooOld) if its driver cannot read their PTX;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if B is on another device; and those of [any
    /// call](crate#errors).
    pub fn prepare<'a, T: ChainElement>(
        &self,
        b: impl IntoMatrixView<'a, T>,
    ) -> Result<PreparedMatrix<'a, T>> {
        T::prepared(self, b.into()).during("prepare")
    }

    /// Makes the residues of B once, for all exact products A B ([`Arithmetic::Exact`](crate::Arithmetic::Exact)).
    ///
    /// [`Matmul::with_prepared`](crate::Matmul::with_prepared) then is an exact product unless another arithmetic is
    /// set, and makes the residues of A alone. The bits are those of [`matmul_exact`](Self::matmul_exact). The
    /// residues of B take 10 to 21 bytes for each element, and its transpose is kept if it is row-major. Products of B
    /// with 4 columns or fewer, or without rows, need no residues.
    ///
    /// ```
    /// use tilewright::{Device, Matmul};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let b = device.matrix((3, 5), &[[1.0_f64; 5], [2.0; 5], [-1.0; 5]].concat())?;
    /// let b = device.prepare_exact(&b)?;
    /// let a = device.matrix((1, 3), &[1e16, 0.5, 1e16])?;
    /// assert_eq!(Matmul::with_prepared(&a, &b).run()?.to_vec()?, [1.0; 5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if B is on another device, and those of [any
    /// call](crate#errors).
    pub fn prepare_exact<'a, T: ChainElement>(
        &self,
        b: impl IntoMatrixView<'a, T>,
    ) -> Result<PreparedMatrix<'a, T>> {
        with_residues(self, b.into(), Arithmetic::Exact).during("prepare_exact")
    }
}

impl<'a, T: ChainElement> Matmul<'a, T> {
    /// The product A B, with B from [`Device::prepare`] or [`Device::prepare_exact`].
    ///
    /// The latter's product is exact, unless another [`arithmetic`](Self::arithmetic) is set.
    #[must_use]
    pub fn with_prepared(a: impl IntoMatrixBatch<'a, T>, b: &'a PreparedMatrix<'a, T>) -> Self {
        let product = Self::of(Operands {
            prepared: [None, Some(b)],
            ..Operands::new(a.into(), b.matrix().into())
        });
        product.arithmetic(b.arithmetic())
    }
}

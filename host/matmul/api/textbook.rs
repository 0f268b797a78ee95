//! Products by a fixed kernel: on CUDA cores, in order of k, with the same bits everywhere.

use super::element::{ChainElement, MatmulElement};
use super::plan::MatmulPlan;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use crate::matmul::epilogue::Epilogue;
use crate::matmul::kernel::TileSize;
use crate::matmul::operands::Operands;
use crate::matmul::plan::Request;
use crate::matrix::{AsMatrixViewMut, IntoMatrixView, Matrix, MatrixView};

impl Device {
    /// The product A B of an M x K and a K x N matrix, in order of k, by the textbook's tiled kernel.
    ///
    /// One thread computes one output, and tiles of the operands go through shared memory. [`Device::matmul`] is
    /// faster. An operand is `&matrix`, its transpose `matrix.t()` or a part of it ([`Matrix::slice`]), in either
    /// [`Order`](crate::Order). It is not copied. The product is row-major.
    ///
    /// Each output starts at +0 and adds its K products in order, each by a fused multiply-add. So it has the bits of
    /// the plain loop, including the sign of a zero: in every run, on every device, from operands in either order, and
    /// from [`Device::matmul_coarsened`]. Every element satisfies |C' - C| <= gamma_K |A||B| (Higham, Accuracy and
    /// Stability of Numerical Algorithms, 3.5). With K = 0 all outputs are +0.
    ///
    /// Infinities follow IEEE 754. A NaN, whether from an operand, from inf - inf or from 0 times inf, becomes the
    /// canonical NaN: the bits 0x7fff_ffff in f32, 0x7fff_ffff_ffff_ffff in f64.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = device.matrix((1, 3), &[1.0_f32, 2.0, 3.0])?;
    /// let b = device.matrix((3, 2), &[1.0, 10.0, 1.0, 10.0, 1.0, 10.0])?;
    /// assert_eq!(device.matmul_tiled(&a, &b)?.to_vec()?, [6.0, 60.0]);
    /// assert_eq!(device.matmul_tiled(b.t(), a.t())?.to_vec()?, [6.0, 60.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if A's columns and B's rows differ in number;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if an operand is on another device;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if the number of the result's elements overflows `usize`;
    /// and those of [any call](crate#errors).
    pub fn matmul_tiled<'a, 'b, T: ChainElement>(
        &self,
        a: impl IntoMatrixView<'a, T>,
        b: impl IntoMatrixView<'b, T>,
    ) -> Result<Matrix<T>> {
        product(self, Request::Tiled, a, b).during("matmul_tiled")
    }

    /// Writes the product of [`Device::matmul_tiled`] to an existing M x N matrix, or to a part of one.
    ///
    /// C may be in either [`Order`](crate::Order). Its elements are overwritten. To write a part, pass a
    /// [`MatrixViewMut`](crate::MatrixViewMut).
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not M x N, and those of
    /// [`Device::matmul_tiled`].
    pub fn matmul_tiled_into<'a, 'b, T: ChainElement>(
        &self,
        a: impl IntoMatrixView<'a, T>,
        b: impl IntoMatrixView<'b, T>,
        c: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        write(self, Request::Tiled, (a, b), c).during("matmul_tiled_into")
    }

    /// The product A B of an M x K and a K x N matrix, in order of k, on CUDA cores.
    ///
    /// Each thread computes 8 x 8 outputs of f32 or 8 x 4 of f64, or 4 x 4 if the result is too small to fill the
    /// device. The next tiles are copied in the background. This is the fast kernel for
    /// [`Arithmetic::Chain`](crate::Arithmetic::Chain). Operands, result, accuracy and bits are those of
    /// [`Device::matmul_tiled`].
    ///
    /// # Errors
    /// The errors of [`Device::matmul_tiled`].
    pub fn matmul_coarsened<'a, 'b, T: ChainElement>(
        &self,
        a: impl IntoMatrixView<'a, T>,
        b: impl IntoMatrixView<'b, T>,
    ) -> Result<Matrix<T>> {
        let request = Request::Coarsened(None);
        product(self, request, a, b).during("matmul_coarsened")
    }

    /// Writes the product of [`Device::matmul_coarsened`] to an existing M x N matrix, or to a part of one.
    ///
    /// C may be in either [`Order`](crate::Order). Its elements are overwritten. To write a part, pass a
    /// [`MatrixViewMut`](crate::MatrixViewMut).
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not M x N, and those of
    /// [`Device::matmul_tiled`].
    pub fn matmul_coarsened_into<'a, 'b, T: ChainElement>(
        &self,
        a: impl IntoMatrixView<'a, T>,
        b: impl IntoMatrixView<'b, T>,
        c: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let request = Request::Coarsened(None);
        write(self, request, (a, b), c).during("matmul_coarsened_into")
    }

    /// [`Device::matmul_coarsened_into`] with tiles of your choice.
    ///
    /// `tiles` replaces the size that [`Device::matmul_coarsened_plan`] reports.
    ///
    /// # Errors
    /// The errors of [`Device::matmul_coarsened_into`].
    pub fn matmul_coarsened_with_into<'a, 'b, T: ChainElement>(
        &self,
        tiles: TileSize,
        a: impl IntoMatrixView<'a, T>,
        b: impl IntoMatrixView<'b, T>,
        c: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let request = Request::Coarsened(Some(tiles));
        write(self, request, (a, b), c).during("matmul_coarsened_with_into")
    }

    /// The kernel that [`Device::matmul_coarsened`] selects for these operands.
    ///
    /// It has the tile size with the shortest estimated time. For f64, tiles are large if there are at least one and a
    /// half large tiles for each multiprocessor. Copies are the widest that the operands allow.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0])?;
    /// let plan = device.matmul_coarsened_plan(&a, a.t())?;
    /// assert_eq!(plan.kernel, "matmul_coarsened_small_f32_nt");
    /// println!("{plan}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if A's columns and B's rows differ in number;
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) if no kernel runs on the device's compute capability.
    pub fn matmul_coarsened_plan<'a, 'b, T: ChainElement>(
        &self,
        a: impl IntoMatrixView<'a, T>,
        b: impl IntoMatrixView<'b, T>,
    ) -> Result<MatmulPlan> {
        let request = Request::Coarsened(None);
        plan(self, request, a, b).during("matmul_coarsened_plan")
    }
}

/// The product by a fixed kernel, in a new matrix.
fn product<'a, 'b, T: MatmulElement>(
    device: &Device,
    request: Request,
    a: impl IntoMatrixView<'a, T>,
    b: impl IntoMatrixView<'b, T>,
) -> Outcome<Matrix<T::Product>> {
    T::in_new(device, request, &operands(a, b), &Epilogue::identity())
}

/// The product by a fixed kernel, in an existing matrix.
fn write<'a, 'b, T: MatmulElement>(
    device: &Device,
    request: Request,
    (a, b): (impl IntoMatrixView<'a, T>, impl IntoMatrixView<'b, T>),
    c: &mut impl AsMatrixViewMut<T::Product>,
) -> Outcome<()> {
    let (c, plain) = (c.as_matrix_view_mut(), Epilogue::identity());
    T::write(device, request, &operands(a, b), c.into(), &plain)
}

/// The plan of the product by a fixed kernel.
fn plan<'a, 'b, T: MatmulElement>(
    device: &Device,
    request: Request,
    a: impl IntoMatrixView<'a, T>,
    b: impl IntoMatrixView<'b, T>,
) -> Outcome<MatmulPlan> {
    let plain = Epilogue::<T::Accumulator>::identity();
    MatmulPlan::of::<T, T::Product, _>(device, request, &operands(a, b), &plain)
}

/// The operands of a single product.
fn operands<'s, 'a: 's, 'b: 's, T: Element>(
    a: impl IntoMatrixView<'a, T>,
    b: impl IntoMatrixView<'b, T>,
) -> Operands<'s, T> {
    let (a, b): (MatrixView<'s, T>, MatrixView<'s, T>) = (a.into(), b.into());
    Operands::new(a.into(), b.into())
}

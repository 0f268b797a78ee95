//! The chains: products in order of k on the ordinary units, the same bits everywhere.

use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Result};
use crate::matmul::element::GemmElement;
use crate::matmul::epilogue::Epilogue;
use crate::matmul::kernel::TileConfig;
use crate::matmul::matrices::Operands;
use crate::matmul::plan::MatmulPlan;
use crate::matmul::select::Request;
use crate::matrix::{AsMatrixViewMut, Matrix, MatrixView};

impl Device {
    /// The product A B of an M x K and a K x N matrix, M x N: one output for each thread, operands
    /// through tiles in shared memory.
    ///
    /// An operand is `&matrix`, its transpose `matrix.t()` or a part of it ([`Matrix::slice`]), in
    /// either [`Order`](crate::Order), without a copy; the product is row-major.
    ///
    /// Each output adds its K products in order, from +0 on, each by a fused multiply-add: the bits
    /// of the plain loop, the sign of a zero included, in every run, on every device, from operands
    /// in either order, and from [`Device::matmul_coarsened`]. Element by element |C' - C| <=
    /// gamma_K |A||B| (Higham, Accuracy and Stability of Numerical Algorithms, 3.5). With K = 0 all
    /// outputs are +0.
    ///
    /// Infinities go through as IEEE 754 has them. A NaN, of an operand, of inf - inf or of 0 times
    /// inf, gives the one canonical NaN, whatever its sign and payload: the bits 0x7fff_ffff in f32,
    /// 0x7fff_ffff_ffff_ffff in f64.
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
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if A's columns are not B's rows; [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if an
    /// operand is of another device; [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if the result cannot be counted;
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory), [`ErrorKind::NoModule`](crate::ErrorKind::NoModule), [`ErrorKind::DeviceLost`](crate::ErrorKind::DeviceLost) or [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
    pub fn matmul_tiled<'a, 'b, T: GemmElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
    ) -> Result<Matrix<T>> {
        self.product(Request::Tiled, operands(a, b), Epilogue::identity())
            .during("matmul_tiled")
    }

    /// [`Device::matmul_tiled`] into an M x N matrix of either [`Order`](crate::Order) that is there, or into a part
    /// of one ([`MatrixViewMut`](crate::MatrixViewMut)), whose elements it overwrites.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not M x N, and those of [`Device::matmul_tiled`].
    pub fn matmul_tiled_into<'a, 'b, T: GemmElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
        c: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let (c, plain) = (c.as_matrix_view_mut(), Epilogue::identity());
        self.multiply(Request::Tiled, operands(a, b), c.into(), plain)
            .during("matmul_tiled_into")
    }

    /// The product A B of an M x K and a K x N matrix, M x N: each thread computes a block of
    /// outputs (8 x 8 of f32, 8 x 4 of f64; 4 x 4 where the result is too small to fill the device),
    /// and copies of the next tiles run in the background.
    ///
    /// It is the fast one. Operands, result, accuracy and errors are those of
    /// [`Device::matmul_tiled`].
    ///
    /// # Errors
    /// Those of [`Device::matmul_tiled`].
    pub fn matmul_coarsened<'a, 'b, T: GemmElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
    ) -> Result<Matrix<T>> {
        let request = Request::Coarsened(None);
        self.product(request, operands(a, b), Epilogue::identity())
            .during("matmul_coarsened")
    }

    /// [`Device::matmul_coarsened`] into an M x N matrix of either [`Order`](crate::Order) that is there, or into a
    /// part of one ([`MatrixViewMut`](crate::MatrixViewMut)), whose elements it overwrites.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not M x N, and those of [`Device::matmul_tiled`].
    pub fn matmul_coarsened_into<'a, 'b, T: GemmElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
        c: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let (c, plain) = (c.as_matrix_view_mut(), Epilogue::identity());
        let request = Request::Coarsened(None);
        self.multiply(request, operands(a, b), c.into(), plain)
            .during("matmul_coarsened_into")
    }

    /// [`Device::matmul_coarsened_into`] with tiles of your choice instead of those of
    /// [`Device::matmul_coarsened_plan`].
    ///
    /// # Errors
    /// Those of [`Device::matmul_coarsened_into`].
    pub fn matmul_coarsened_with_into<'a, 'b, T: GemmElement>(
        &self,
        tiles: TileConfig,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
        c: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let (c, plain) = (c.as_matrix_view_mut(), Epilogue::identity());
        let request = Request::Coarsened(Some(tiles));
        self.multiply(request, operands(a, b), c.into(), plain)
            .during("matmul_coarsened_with_into")
    }

    /// The kernel that [`Device::matmul_coarsened`] selects for these operands: tiles of the size that
    /// takes least time, or of f64 large ones if they give each multiprocessor at least one and a half blocks, and the
    /// widest copies that the operands allow.
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
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if A's columns are not B's rows; [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) if the device is
    /// too old for all kernels.
    pub fn matmul_coarsened_plan<'a, 'b, T: GemmElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
    ) -> Result<MatmulPlan> {
        let request = Request::Coarsened(None);
        self.plan::<T, T, T::Accumulator>(request, operands(a, b), &Epilogue::identity())
            .during("matmul_coarsened_plan")
    }
}

/// The operands of a single product.
fn operands<'s, 'a: 's, 'b: 's, T: Element>(
    a: impl Into<MatrixView<'a, T>>,
    b: impl Into<MatrixView<'b, T>>,
) -> Operands<'s, T> {
    let (a, b): (MatrixView<'s, T>, MatrixView<'s, T>) = (a.into(), b.into());
    Operands::new(a.into(), b.into())
}

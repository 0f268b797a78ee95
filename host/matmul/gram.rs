//! Products of a matrix with its transpose, which are symmetric: about half of them is computed, and copied
//! to the other half.

use super::fastest::{MatmulElement, MatmulInto};
use super::matrices::Factors;
use super::operands::written_by_product;
use super::request::Matmul;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::kernels::module_of;
use crate::launch::LaunchConfig;
use crate::matrix::{AsMatrixViewMut, Matrix, MatrixBatch, MatrixBatchMut, MatrixView};
use crate::module::Module;
use cuda_std::global::GlobalMut;
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::triangle::{
    MIRROR_THREADS, MirrorShape, mirror_u16, mirror_u32, mirror_u64,
};

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
    /// [`ErrorKind::ShapeMismatch`] if C is not N x N, and those of [`Matmul::run`].
    pub fn gram_into<'a, T: MatmulInto<O>, O: Element>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        c: &mut impl AsMatrixViewMut<O>,
    ) -> Result<()> {
        Matmul::gram(a.into())
            .multiply(self, c.as_matrix_view_mut().into())
            .during("gram")
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
        Self::of(Factors::gram(a.into()))
    }
}

/// Overwrites one triangle of each matrix with the other: the upper one where they are row-major.
pub fn mirror<T: Element>(batch: MatrixBatchMut<'_, T>) -> Outcome<()> {
    /// What a grid can have along y.
    const MOST: usize = 65_535;
    let first = batch.view().first();
    let device = first.device().clone();
    let shape = MirrorShape {
        n: first.rows(),
        leading_dimension: first.leading_dimension(),
        stride: batch.view().stride(),
        matrices: batch.view().count().unwrap_or(1),
    };
    if shape.n <= 1 {
        return Ok(());
    }
    let tiles = shape.tiles().checked_mul(shape.tiles());
    let tiles = tiles.filter(|it| *it <= i32::MAX as usize);
    let tiles = tiles.ok_or_else(|| ErrorKind::TooLarge {
        what: format!("a result of {0}x{0} elements", shape.n),
        remedy: "a grid can have at most 2^31 - 1 blocks: multiply parts of the matrices",
    })?;
    let grid = (tiles as u32, shape.matrices.min(MOST) as u32);
    let config = LaunchConfig::new(grid, MIRROR_THREADS as u32);
    // SAFETY: (1) by (1) of the kernels.
    let elements = unsafe { written_by_product(batch) };
    /// The launch of a kernel for elements of a word.
    macro_rules! launch {
        ($kernel:ident) => {{
            let first = elements.as_mut_ptr().cast();
            // SAFETY: (1), (2) as for the elements, which are as large.
            let words = unsafe { GlobalMut::from_raw_parts(first, elements.len()) };
            let module = Module::on_demand(&device, module_of!($kernel));
            // SAFETY: (1) is (1) and (2) of the kernel: (1) the view and the shape are those of the matrices,
            // which as rows or as columns have the same diagonals. (2) The grid. (2) The matrices are borrowed
            // mutably until this returns.
            unsafe { module.launch_params($kernel, config, (words, GridConstant::new(&shape))) }
        }};
    }
    match size_of::<T>() {
        2 => launch!(mirror_u16),
        4 => launch!(mirror_u32),
        8 => launch!(mirror_u64),
        bytes => unreachable!("no product has elements of {bytes} bytes"),
    }
}

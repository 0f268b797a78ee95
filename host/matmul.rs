//! Products of matrices.

mod kernels;

pub use kernels::Factor;

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::launch::LaunchConfig;
use crate::matrix::{Matrix, MatrixView, Order};
use kernels::Kernels;

/// How many outputs each thread of [`Device::matmul_coarsened`] computes (thread coarsening, seed
/// 000). The bits of the product do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coarsening {
    /// 4 x 4 outputs for each thread, 64 x 64 for each block of threads.
    Small,
    /// 8 x 8 outputs of f32 for each thread, 128 x 128 for each block; 8 x 4 of f64, 128 x 64.
    Large,
}

/// Large blocks for each multiprocessor, in halves, from which on they are faster than small ones.
///
/// On an H200 with 132 multiprocessors, f32, small against large in TFLOP/s: 9.7 and 4.3 at 512
/// (16 large blocks), 29.7 and 18.9 at 1024 (64), 30.2 and 24.4 at 1536 (144), 34.8 and 44.3 at
/// 2048 (256): between 1.1 and 1.9 blocks.
const LARGE_FROM_HALVES: u32 = 3;

impl Device {
    /// The product A B of an M x K and a K x N matrix, M x N: one output for each thread, operands
    /// through tiles in shared memory.
    ///
    /// An operand is `&matrix`, or its transpose `matrix.t()`, in either [`Order`], without a
    /// copy; the product is row-major.
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
    /// let a = device.matrix(1, 3, &[1.0_f32, 2.0, 3.0])?;
    /// let b = device.matrix(3, 2, &[1.0, 10.0, 1.0, 10.0, 1.0, 10.0])?;
    /// assert_eq!(device.matmul_tiled(&a, &b)?.to_vec()?, [6.0, 60.0]);
    /// assert_eq!(device.matmul_tiled(b.t(), a.t())?.to_vec()?, [6.0, 60.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if A's columns are not B's rows; [`Error::WrongDevice`] if an
    /// operand is of another device; [`Error::TooLarge`] if the result cannot be counted;
    /// [`Error::OutOfMemory`], [`Error::NoModule`], [`Error::DeviceLost`] or [`Error::Cuda`].
    pub fn matmul_tiled<'a, 'b, T: Factor>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
    ) -> Result<Matrix<T>> {
        let (a, b) = (a.into(), b.into());
        let mut c = self.product_matrix("matmul_tiled", a, b)?;
        self.matmul_tiled_into(a, b, &mut c)?;
        Ok(c)
    }

    /// [`Device::matmul_tiled`] into an M x N matrix of either [`Order`] that is there, whose
    /// elements it overwrites.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if C is not M x N, and those of [`Device::matmul_tiled`].
    pub fn matmul_tiled_into<'a, 'b, T: Factor>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
        c: &mut Matrix<T>,
    ) -> Result<()> {
        self.multiply("matmul_tiled", T::TILED, a.into(), b.into(), c)
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
    pub fn matmul_coarsened<'a, 'b, T: Factor>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
    ) -> Result<Matrix<T>> {
        let (a, b) = (a.into(), b.into());
        let mut c = self.product_matrix("matmul_coarsened", a, b)?;
        self.matmul_coarsened_into(a, b, &mut c)?;
        Ok(c)
    }

    /// [`Device::matmul_coarsened`] into an M x N matrix of either [`Order`] that is there, whose
    /// elements it overwrites.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if C is not M x N, and those of [`Device::matmul_tiled`].
    pub fn matmul_coarsened_into<'a, 'b, T: Factor>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
        c: &mut Matrix<T>,
    ) -> Result<()> {
        let coarsening = self.default_coarsening::<T>(c.rows(), c.cols());
        self.matmul_coarsened_with_into(coarsening, a, b, c)
    }

    /// [`Device::matmul_coarsened_into`] with a coarsening of your choice instead of
    /// [`Device::default_coarsening`].
    ///
    /// # Errors
    /// Those of [`Device::matmul_coarsened_into`].
    pub fn matmul_coarsened_with_into<'a, 'b, T: Factor>(
        &self,
        coarsening: Coarsening,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
        c: &mut Matrix<T>,
    ) -> Result<()> {
        let kernels = match coarsening {
            Coarsening::Small => T::SMALL,
            Coarsening::Large => T::LARGE,
        };
        self.multiply("matmul_coarsened", kernels, a.into(), b.into(), c)
    }

    /// The coarsening that [`Device::matmul_coarsened`] chooses for an `m` x `n` result of this
    /// device: the large one if that gives each multiprocessor at least one and a half blocks.
    #[must_use]
    pub fn default_coarsening<T: Factor>(&self, m: usize, n: usize) -> Coarsening {
        let multiprocessors = self.properties().multiprocessors;
        let needed = multiprocessors.saturating_mul(LARGE_FROM_HALVES) / 2;
        let blocks = T::LARGE.tile.blocks(m, n);
        if blocks.is_none_or(|blocks| blocks >= needed) {
            Coarsening::Large
        } else {
            Coarsening::Small
        }
    }

    /// A matrix for the product of `a` and `b`, with unspecified elements.
    fn product_matrix<T: Factor>(
        &self,
        operation: &'static str,
        a: MatrixView<'_, T>,
        b: MatrixView<'_, T>,
    ) -> Result<Matrix<T>> {
        check_inner(operation, a, b)?;
        Matrix::unspecified(self, operation, a.rows(), b.cols())
    }

    fn multiply<T: Factor>(
        &self,
        operation: &'static str,
        kernels: Kernels<T>,
        a: MatrixView<'_, T>,
        b: MatrixView<'_, T>,
        c: &mut Matrix<T>,
    ) -> Result<()> {
        let holders = [("A", a.device()), ("B", b.device()), ("C", c.device())];
        for (name, holder) in holders {
            self.check_owns(operation, || format!("the matrix {name}"), holder)?;
        }
        check_inner(operation, a, b)?;
        check_result(operation, a, b, c)?;
        // A column-major C is a row-major transpose of C, which is that of B times that of A.
        let (a, b) = match c.order() {
            Order::RowMajor => (a, b),
            Order::ColumnMajor => (b.t(), a.t()),
        };
        let (m, n, k) = (a.rows(), b.cols(), a.cols());
        if m == 0 || n == 0 {
            return Ok(());
        }
        let blocks = kernels.tile.blocks(m, n).ok_or_else(|| Error::TooLarge {
            operation,
            what: format!("a result of {m}x{n} elements"),
            remedy: "a grid can have at most 2^31 - 1 blocks: multiply parts of the matrices",
        })?;
        let config = LaunchConfig::new(blocks, kernels.tile.threads);
        let launch = kernels.of_operands(a, b);
        let operands = (a.as_buffer(), b.as_buffer(), c.buffer_mut(), m, n, k);
        // SAFETY: (1) of `Launch` is (1) to (3) of the kernels: (1) Block and grid are the tiling's
        // for m x n. (2) A matrix has rows * columns elements, the shapes were compared, and
        // buffers start at multiples of 256 bytes. (3) `of_operands` chose by the operands' orders
        // and rows.
        unsafe { launch(self, config, operands) }
    }
}

pub(crate) fn check_inner<T: Element>(
    operation: &'static str,
    a: MatrixView<'_, T>,
    b: MatrixView<'_, T>,
) -> Result<()> {
    if a.cols() == b.rows() {
        return Ok(());
    }
    Err(Error::ShapeMismatch {
        operation,
        left: a.shape(),
        right: b.shape(),
        rule: "the left matrix needs as many columns as the right one has rows",
    })
}

pub(crate) fn check_result<T: Element>(
    operation: &'static str,
    a: MatrixView<'_, T>,
    b: MatrixView<'_, T>,
    c: &Matrix<T>,
) -> Result<()> {
    let expected = (a.rows(), b.cols());
    if c.shape() == expected {
        return Ok(());
    }
    Err(Error::ShapeMismatch {
        operation,
        left: expected,
        right: c.shape(),
        rule: "the first is the product's shape, the second that of the matrix for it: they must be equal",
    })
}

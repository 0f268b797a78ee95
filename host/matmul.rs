//! Products of matrices.

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::kernels::KERNELS;
use crate::launch::LaunchConfig;
use crate::matrix::Matrix;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::Kernel;
use tilewright_kernels::matmul::{self, Tiling};

/// A type whose matrices can be multiplied: f32 and f64.
#[diagnostic::on_unimplemented(
    message = "matrices of `{Self}` cannot be multiplied",
    note = "products are for f32 and f64"
)]
pub trait Factor: Element + sealed::ProductKernels {}

mod sealed {
    use super::{Element, Global, GlobalMut, Kernel, Tiling};

    /// The parameters of every product kernel: A, B, C, M, N, K.
    pub type Params<T> = (Global<T>, Global<T>, GlobalMut<T>, usize, usize, usize);

    /// Two kernels that compute the same outputs for each thread.
    #[derive(Clone, Copy)]
    pub struct Coarsened<Aligned, Unaligned> {
        /// For rows of B that start at multiples of 16 bytes.
        pub aligned: Aligned,
        /// For rows of B of any length.
        pub unaligned: Unaligned,
        pub tiling: Tiling,
    }

    /// The kernels that multiply a type.
    pub trait ProductKernels: Element {
        type Tiled: Kernel<Params = Params<Self>>;
        type Large: Kernel<Params = Params<Self>>;
        type LargeUnaligned: Kernel<Params = Params<Self>>;
        type Small: Kernel<Params = Params<Self>>;
        type SmallUnaligned: Kernel<Params = Params<Self>>;
        const TILED: Self::Tiled;
        /// Many outputs for each thread: the fastest where there are blocks enough.
        const LARGE: Coarsened<Self::Large, Self::LargeUnaligned>;
        /// Fewer outputs for each thread, and so more blocks.
        const SMALL: Coarsened<Self::Small, Self::SmallUnaligned>;
    }
}

use sealed::Coarsened;

macro_rules! factors {
    ($($element:ty: $tiled:ident, large = $large:ident $large_unaligned:ident $large_tiling:ident,
        small = $small:ident $small_unaligned:ident $small_tiling:ident;)*) => {$(
        impl Factor for $element {}

        impl sealed::ProductKernels for $element {
            type Tiled = matmul::$tiled;
            type Large = matmul::$large;
            type LargeUnaligned = matmul::$large_unaligned;
            type Small = matmul::$small;
            type SmallUnaligned = matmul::$small_unaligned;
            const TILED: Self::Tiled = matmul::$tiled;
            const LARGE: Coarsened<Self::Large, Self::LargeUnaligned> = Coarsened {
                aligned: matmul::$large,
                unaligned: matmul::$large_unaligned,
                tiling: matmul::$large_tiling,
            };
            const SMALL: Coarsened<Self::Small, Self::SmallUnaligned> = Coarsened {
                aligned: matmul::$small,
                unaligned: matmul::$small_unaligned,
                tiling: matmul::$small_tiling,
            };
        }
    )*};
}
factors! {
    f32: matmul_tiled_f32,
        large = matmul_coarsened_f32 matmul_coarsened_f32_unaligned COARSENED_F32,
        small = matmul_coarsened_small_f32 matmul_coarsened_small_f32_unaligned COARSENED_SMALL_F32;
    f64: matmul_tiled_f64,
        large = matmul_coarsened_f64 matmul_coarsened_f64_unaligned COARSENED_F64,
        small = matmul_coarsened_small_f64 matmul_coarsened_small_f64_unaligned COARSENED_SMALL_F64;
}

/// Large blocks for each multiprocessor, in halves, from which on they are faster than small ones.
///
/// On an H200 with 132 multiprocessors, f32, small against large in TFLOP/s: 9.7 and 4.3 at 512
/// (16 large blocks), 29.7 and 18.9 at 1024 (64), 30.2 and 24.4 at 1536 (144), 34.8 and 44.3 at
/// 2048 (256): between 1.1 and 1.9 blocks.
const LARGE_FROM_HALVES: u32 = 3;

/// Bytes of the widest access of a kernel.
const VECTOR_BYTES: usize = 16;

impl Device {
    /// The product A B of an M x K and a K x N matrix, M x N: one output for each thread, operands
    /// through tiles in shared memory.
    ///
    /// Each output adds its K products in order, each by a fused multiply-add: the same bits in
    /// every run, on every device, and from [`Device::matmul_coarsened`]. Element by element
    /// |C' - C| <= gamma_K |A||B| (Higham, Accuracy and Stability of Numerical Algorithms, 3.5).
    /// With K = 0 all outputs are 0. NaN and infinities go through as IEEE 754 has them.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = device.matrix(1, 3, &[1.0_f32, 2.0, 3.0])?;
    /// let b = device.matrix(3, 2, &[1.0, 10.0, 1.0, 10.0, 1.0, 10.0])?;
    /// assert_eq!(device.matmul_tiled(&a, &b)?.to_vec()?, [6.0, 60.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if A's columns are not B's rows; [`Error::WrongDevice`] if an
    /// operand is of another device; [`Error::TooLarge`] if the result cannot be counted;
    /// [`Error::OutOfMemory`], [`Error::NoModule`], [`Error::DeviceLost`] or [`Error::Cuda`].
    pub fn matmul_tiled<T: Factor>(&self, a: &Matrix<T>, b: &Matrix<T>) -> Result<Matrix<T>> {
        let mut c = self.product_matrix("matmul_tiled", a, b)?;
        self.matmul_tiled_into(a, b, &mut c)?;
        Ok(c)
    }

    /// [`Device::matmul_tiled`] into an M x N matrix that is there, whose elements it overwrites.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if C is not M x N, and those of [`Device::matmul_tiled`].
    pub fn matmul_tiled_into<T: Factor>(
        &self,
        a: &Matrix<T>,
        b: &Matrix<T>,
        c: &mut Matrix<T>,
    ) -> Result<()> {
        self.multiply("matmul_tiled", T::TILED, matmul::TILED, a, b, c)
    }

    /// The product A B of an M x K and a K x N matrix, M x N: each thread computes a block of
    /// outputs (8 x 8 of f32, 8 x 4 of f64; 4 x 4 where the result is too small to fill the device),
    /// and copies of the next tiles run in the background.
    ///
    /// It is the fast one. Result, accuracy and errors are those of [`Device::matmul_tiled`].
    ///
    /// # Errors
    /// Those of [`Device::matmul_tiled`].
    pub fn matmul_coarsened<T: Factor>(&self, a: &Matrix<T>, b: &Matrix<T>) -> Result<Matrix<T>> {
        let mut c = self.product_matrix("matmul_coarsened", a, b)?;
        self.matmul_coarsened_into(a, b, &mut c)?;
        Ok(c)
    }

    /// [`Device::matmul_coarsened`] into an M x N matrix that is there, whose elements it
    /// overwrites.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if C is not M x N, and those of [`Device::matmul_tiled`].
    pub fn matmul_coarsened_into<T: Factor>(
        &self,
        a: &Matrix<T>,
        b: &Matrix<T>,
        c: &mut Matrix<T>,
    ) -> Result<()> {
        if self.fills_with_large_blocks(T::LARGE.tiling, a.rows(), b.cols()) {
            self.multiply_coarsened(T::LARGE, a, b, c)
        } else {
            self.multiply_coarsened(T::SMALL, a, b, c)
        }
    }

    /// Whether an `m` x `n` result has enough blocks of `large` to keep this device busy.
    fn fills_with_large_blocks(&self, large: Tiling, m: usize, n: usize) -> bool {
        let needed = self
            .properties()
            .multiprocessors
            .saturating_mul(LARGE_FROM_HALVES)
            / 2;
        large.blocks(m, n).is_none_or(|blocks| blocks >= needed)
    }

    fn multiply_coarsened<T: Factor, A, U>(
        &self,
        kernels: Coarsened<A, U>,
        a: &Matrix<T>,
        b: &Matrix<T>,
        c: &mut Matrix<T>,
    ) -> Result<()>
    where
        A: Kernel<Params = sealed::Params<T>>,
        U: Kernel<Params = sealed::Params<T>>,
    {
        let rows_are_aligned = (b.cols() * size_of::<T>()).is_multiple_of(VECTOR_BYTES);
        if rows_are_aligned {
            self.multiply("matmul_coarsened", kernels.aligned, kernels.tiling, a, b, c)
        } else {
            self.multiply(
                "matmul_coarsened",
                kernels.unaligned,
                kernels.tiling,
                a,
                b,
                c,
            )
        }
    }

    /// A matrix for the product of `a` and `b`, with unspecified elements.
    fn product_matrix<T: Factor>(
        &self,
        operation: &'static str,
        a: &Matrix<T>,
        b: &Matrix<T>,
    ) -> Result<Matrix<T>> {
        check_inner(operation, a, b)?;
        Matrix::unspecified(self, operation, a.rows(), b.cols())
    }

    fn multiply<T: Factor, K: Kernel<Params = sealed::Params<T>>>(
        &self,
        operation: &'static str,
        kernel: K,
        tiling: Tiling,
        a: &Matrix<T>,
        b: &Matrix<T>,
        c: &mut Matrix<T>,
    ) -> Result<()> {
        for (name, operand) in [("A", a), ("B", b), ("C", &*c)] {
            self.check_owns(operation, || format!("the matrix {name}"), operand.device())?;
        }
        check_inner(operation, a, b)?;
        check_result(operation, a, b, c)?;
        let (m, n, k) = (a.rows(), b.cols(), a.cols());
        if m == 0 || n == 0 {
            return Ok(());
        }
        let blocks = tiling.blocks(m, n).ok_or_else(|| Error::TooLarge {
            operation,
            what: format!("a result of {m}x{n} elements"),
            remedy: "a grid can have at most 2^31 - 1 blocks: multiply parts of the matrices",
        })?;
        let config = LaunchConfig::new(blocks, tiling.threads);
        let module = self.load(&KERNELS)?;
        // SAFETY: (1) the kernel's (1): block and grid are the tiling's for m x n. (2) A matrix has
        // rows * columns elements, the shapes were compared, and buffers start at multiples of 256
        // bytes. (3) The caller chose the kernel by the length of B's rows, which C's share.
        unsafe { module.launch_unsafe(kernel, config, (a, b, c, m, n, k)) }
    }
}

fn check_inner<T: Element>(operation: &'static str, a: &Matrix<T>, b: &Matrix<T>) -> Result<()> {
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

fn check_result<T: Element>(
    operation: &'static str,
    a: &Matrix<T>,
    b: &Matrix<T>,
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

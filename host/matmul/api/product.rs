//! Products by the fastest kernel that meets the type's accuracy guarantee, with or without an epilogue.

use super::element::{MatmulElement, MatmulInto};
use super::plan::MatmulPlan;
use crate::buffer::IntoBufferView;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::epilogue::{Activation, Epilogue};
use crate::matmul::execute::Computes;
use crate::matmul::kernel::TileSize;
use crate::matmul::operands::Operands;
use crate::matmul::plan::Request;
use crate::matmul::types::EpilogueScalar;
use crate::matrix::{
    AsMatrixBatchMut, AsMatrixViewMut, IntoMatrixBatch, IntoMatrixView, Matrix, MatrixBatchMut,
};
use crate::setters::setters;
use cuda_std::float::Float;

/// A matrix product with an epilogue: scaling, bias and activation, fused into the kernel.
///
/// ```text
/// C' = activation(alpha row_scale[i] column_scale[j] (A B)[i, j] + beta C[i, j] + row_bias[i] + column_bias[j])
/// ```
///
/// The epilogue is computed in type `S`, in the same pass, before the results are rounded to the type of C. `S` is the
/// type of the sums, [`MatmulElement::Accumulator`]; integers wrap on overflow. For [`dequantized`](Self::dequantized),
/// `S` is f32.
///
/// ```
/// use tilewright::{Activation, Device, Matmul};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let x = device.matrix((2, 3), &[1.0_f32, 2.0, 3.0, -1.0, -2.0, -3.0])?;
/// let weights = device.matrix((3, 1), &[1.0, 1.0, 1.0])?;
/// let bias = device.upload(&[0.5_f32])?;
/// let layer = Matmul::new(&x, &weights)
///     .column_bias(&bias)
///     .activation(Activation::Relu);
/// println!("{}", layer.plan()?);
/// assert_eq!(layer.run()?.to_vec()?, [6.5, 0.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[doc(alias = "gemm")]
pub struct Matmul<'a, T: MatmulElement, S: Element = <T as MatmulElement>::Accumulator> {
    pub(super) operands: Operands<'a, T>,
    arithmetic: Arithmetic,
    tiles: Option<TileSize>,
    capability: Option<(u32, u32)>,
    epilogue: Epilogue<'a, S>,
}

impl<'a, T: MatmulElement> Matmul<'a, T> {
    /// The product A B of an M x K and a K x N matrix, on their device.
    ///
    /// If an operand is a [`MatrixBatch`](crate::MatrixBatch), one launch computes the products of all its matrices. If
    /// the other operand is a single matrix, every product uses it.
    #[must_use]
    pub fn new(a: impl IntoMatrixBatch<'a, T>, b: impl IntoMatrixBatch<'a, T>) -> Self {
        Self::of(Operands::new(a.into(), b.into()))
    }
}

impl<'a> Matmul<'a, i8, f32> {
    /// The product A B of quantised i8 matrices, scaled back to floats (w8a8).
    ///
    /// The sums are exact in i32, as with [`Matmul::new`]. Each is rounded to f32, ties to even, which keeps sums of
    /// less than 2^24 in magnitude exact. The epilogue is computed in f32. The output is f32, bf16 or f16:
    /// name it with [`run_as`](Self::run_as), or call [`run_into`](Self::run_into). 16-bit outputs are rounded again.
    ///
    /// For example, weights with one scale per output and activations with one scale per row:
    ///
    /// ```
    /// use tilewright::{Device, Matmul};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let tokens = device.matrix((2, 3), &[1_i8, 2, 3, -4, -5, -6])?;
    /// let weights = device.matrix((3, 1), &[100_i8, 10, 1])?;
    /// let of_tokens = device.upload(&[0.5_f32, 0.25])?;
    /// let of_weights = device.upload(&[2.0_f32])?;
    /// let product = Matmul::dequantized(&tokens, &weights)
    ///     .row_scale(&of_tokens)
    ///     .column_scale(&of_weights);
    /// assert_eq!(product.run_as::<f32>()?.to_vec()?, [123.0, -228.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Needs compute capability 8.0 or the simulator. [`Arithmetic::Chain`] has no kernel for it.
    #[doc(alias = "w8a8")]
    #[doc(alias = "quantized")]
    #[must_use]
    pub fn dequantized(a: impl IntoMatrixBatch<'a, i8>, b: impl IntoMatrixBatch<'a, i8>) -> Self {
        Self::of(Operands::new(a.into(), b.into()))
    }
}

impl<'a, T: MatmulElement, S: EpilogueScalar> Matmul<'a, T, S> {
    pub(super) fn of(operands: Operands<'a, T>) -> Self {
        Self {
            operands,
            arithmetic: Arithmetic::Auto,
            tiles: None,
            capability: None,
            epilogue: Epilogue::identity(),
        }
    }
}

impl<'a, T: MatmulElement, S: Element> Matmul<'a, T, S> {
    setters! {
        /// Sets how the product is computed: [`Arithmetic::Auto`] if not given.
        arithmetic(arithmetic: Arithmetic) => arithmetic = arithmetic;

        /// Sets the size of the tiles, instead of the one that [`plan`](Self::plan) selects.
        ///
        /// The bits do not depend on the size. This has no effect on products with a vector, or if K is split for f64
        /// or for f32 on CUDA cores.
        tiles(tiles: TileSize) => tiles = Some(tiles);
    }

    /// Uses only kernels that run on compute capability `major`.`minor`.
    ///
    /// Use it to test or time an older device's kernels on a newer one. On an older device it has no effect. Tensor
    /// cores still round like those of the device that runs the kernel, or that the simulator simulates.
    ///
    /// ```
    /// use half::f16;
    /// use tilewright::{Device, Matmul};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = device.matrix((2, 2), &[1.0, 2.0, 3.0, 4.0].map(f16::from_f32))?;
    /// let product = Matmul::new(&a, &a).compute_capability(8, 0);
    /// assert_eq!(product.plan()?.kernel, "matmul_mma_small_f16_nn");
    /// assert_eq!(product.run()?.to_vec()?, [7.0, 10.0, 15.0, 22.0].map(f16::from_f32));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn compute_capability(mut self, major: u32, minor: u32) -> Self {
        self.capability = Some((major, minor));
        self
    }

    setters! {
        /// Sets the factor of the product: 1 if not given. With 0, A and B are not read.
        alpha(alpha: S) => epilogue.alpha = alpha;

        /// Sets the factor of C: 0 if not given. With 0, C is not read. A new C counts as zero.
        beta(beta: S) => epilogue.beta = beta;

        /// Multiplies row i of the product by `scale[i]`, one of M factors.
        row_scale(scale: impl IntoBufferView<'a, S>) => epilogue.rows.scale = Some(scale.into());

        /// Multiplies column j of the product by `scale[j]`, one of N factors.
        column_scale(scale: impl IntoBufferView<'a, S>) => epilogue.columns.scale = Some(scale.into());

        /// Adds `bias[i]`, one of M numbers, to row i of the product.
        row_bias(bias: impl IntoBufferView<'a, S>) => epilogue.rows.bias = Some(bias.into());

        /// Adds `bias[j]`, one of N numbers, to column j of the product.
        column_bias(bias: impl IntoBufferView<'a, S>) => epilogue.columns.bias = Some(bias.into());
    }

    /// Sets the activation, which is applied last to each output. Integer products have no activation.
    #[must_use]
    pub fn activation(mut self, activation: Activation) -> Self
    where
        S: Float,
    {
        self.epilogue.activation = activation;
        self
    }

    /// Computes the product as a new row-major matrix; the products of a batch lie one below the other.
    ///
    /// # Errors
    /// - [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if A's columns and B's rows differ in number.
    /// - [`ErrorKind::BatchMismatch`](crate::ErrorKind::BatchMismatch) if A and B are batches of different sizes.
    /// - [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if a row scale or bias does not have M elements, or
    ///   a column scale or bias N.
    /// - [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if the operands are on different devices.
    /// - [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) if the device has no kernel for the type or arithmetic;
    ///   [`ErrorKind::DriverTooOld`](crate::ErrorKind::DriverTooOld) if its driver is too old for that kernel.
    /// - [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if the result has too many elements; those of
    ///   [any call](crate#errors).
    pub fn run(&self) -> Result<Matrix<T::Product>>
    where
        T: MatmulInto<<T as MatmulElement>::Product, S>,
    {
        self.in_new(self.device()).during("Matmul::run")
    }

    /// The kernel that [`run`](Self::run) selects, and why.
    ///
    /// With [`Arithmetic::Split`], a second kernel computes the outputs of rows and columns outside the split's range
    /// (elements too far apart, infinite or NaN), in order of k. The device finds these rows and columns.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) or
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel), as for [`run`](Self::run).
    pub fn plan(&self) -> Result<MatmulPlan>
    where
        T: MatmulInto<<T as MatmulElement>::Product, S>,
    {
        self.plan_of::<T::Product>().during("Matmul::plan")
    }

    /// Computes the product as a new row-major matrix of type `O`.
    ///
    /// f16, bf16 and 8-bit floats become f32; [`dequantized`](Matmul::dequantized) i8 becomes f32, bf16 or f16.
    ///
    /// # Errors
    /// The errors of [`Matmul::run`].
    pub fn run_as<O: Element>(&self) -> Result<Matrix<O>>
    where
        T: MatmulInto<O, S>,
    {
        self.in_new(self.device()).during("Matmul::run_as")
    }

    /// Writes the product to an existing M x N matrix, to a part of one, or to a batch of them.
    ///
    /// C may be in either [`Order`](crate::Order). It is overwritten, unless [`beta`](Self::beta) adds a multiple of
    /// it to the product. f16, bf16 and 8-bit floats can also be written to matrices of f32.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not M x N, and those of
    /// [`Matmul::run`].
    pub fn run_into<O: Element>(&self, c: &mut impl AsMatrixBatchMut<O>) -> Result<()>
    where
        T: MatmulInto<O, S>,
    {
        self.write(self.device(), c.as_matrix_batch_mut())
            .during("Matmul::run_into")
    }

    /// The kernel that [`run_as`](Self::run_as) selects for outputs of type `O`, and why.
    ///
    /// # Errors
    /// The errors of [`plan`](Self::plan).
    pub fn plan_as<O: Element>(&self) -> Result<MatmulPlan>
    where
        T: MatmulInto<O, S>,
    {
        self.plan_of::<O>().during("Matmul::plan_as")
    }

    fn plan_of<O: Element>(&self) -> Outcome<MatmulPlan>
    where
        T: Computes<O, S>,
    {
        MatmulPlan::of::<T, O, S>(
            self.device(),
            self.request(),
            &self.operands,
            &self.epilogue,
        )
    }

    fn device(&self) -> &'a Device {
        self.operands.a.first().device()
    }

    /// The product in a new matrix of `device`.
    pub(super) fn in_new<O: Element>(&self, device: &Device) -> Outcome<Matrix<O>>
    where
        T: Computes<O, S>,
    {
        T::in_new(device, self.request(), &self.operands, &self.epilogue)
    }

    /// Writes the product to `c`.
    pub(super) fn write<O: Element>(&self, device: &Device, c: MatrixBatchMut<'_, O>) -> Outcome<()>
    where
        T: Computes<O, S>,
    {
        T::write(device, self.request(), &self.operands, c, &self.epilogue)
    }

    fn request(&self) -> Request {
        match self.capability {
            Some(capability) => Request::FastestAt(capability, self.arithmetic, self.tiles),
            None => Request::Fastest(self.arithmetic, self.tiles),
        }
    }
}

impl Device {
    /// The product A B, by the fastest kernel that meets the type's accuracy guarantee ([`MatmulElement`]).
    ///
    /// A is M x K and B K x N. An operand is `&matrix`, its transpose `matrix.t()` or a part of it
    /// ([`Matrix::slice`]), in either [`Order`](crate::Order). The product is row-major, M x N.
    ///
    /// For f32 and f64, every element satisfies |C' - C| <= gamma_K |A||B| unless an operation underflows (Higham,
    /// Accuracy and Stability of Numerical Algorithms, 3.5).
    ///
    /// The device, the type, M, N and K select the kernel ([`Matmul::plan`]), and so the bits of an f32 product. The
    /// bits are the same in every run, and do not depend on the operands' orders or addresses. For the same bits on
    /// every device, use [`Matmul::arithmetic`] with [`Arithmetic::Chain`](crate::Arithmetic::Chain). Two kinds of
    /// products divide K and add the parts:
    ///
    /// - A product of a matrix and a vector: see [`Device::matvec`]. Its bits are the same on every device.
    /// - A product with a small result and a large K. The number of parts depends on M, N, K and the type alone. The
    ///   exception is f32 on compute capability 9.0: there, parts of larger results run on tensor cores.
    ///
    /// On tensor cores, an f32 product needs about 4 (M + N) K bytes of temporary memory for the split elements.
    ///
    /// ```
    /// use half::bf16;
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = device.matrix((1, 3), &[1.0, 2.0, 3.0].map(bf16::from_f32))?;
    /// let c = device.matmul(&a, a.t())?;
    /// assert_eq!(c.to_vec()?, [bf16::from_f32(14.0)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Matmul::run`].
    #[doc(alias = "gemm")]
    #[doc(alias = "dot")]
    #[doc(alias = "mul")]
    pub fn matmul<'a, 'b, T: MatmulElement>(
        &self,
        a: impl IntoMatrixView<'a, T>,
        b: impl IntoMatrixView<'b, T>,
    ) -> Result<Matrix<T::Product>> {
        let (a, b) = (a.into(), b.into());
        Matmul::new(a, b).in_new(self).during("matmul")
    }

    /// Writes the product A B to an existing M x N matrix, or to a part of one, as [`Device::matmul`] computes it.
    ///
    /// C may be in either [`Order`](crate::Order). Its elements are overwritten. To write a part, pass a
    /// [`MatrixViewMut`](crate::MatrixViewMut).
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not M x N, and those of
    /// [`Matmul::run`].
    pub fn matmul_into<'a, 'b, T: MatmulInto<O>, O: Element>(
        &self,
        a: impl IntoMatrixView<'a, T>,
        b: impl IntoMatrixView<'b, T>,
        c: &mut impl AsMatrixViewMut<O>,
    ) -> Result<()> {
        let (a, b) = (a.into(), b.into());
        Matmul::new(a, b)
            .write(self, c.as_matrix_view_mut().into())
            .during("matmul_into")
    }
}

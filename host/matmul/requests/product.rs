//! Products by the fastest kernel that keeps the promise of the type, plain or with choices.

use crate::buffer::BufferView;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::epilogue::{Activation, Epilogue};
use crate::matmul::kernel::TileConfig;
use crate::matmul::matrices::Operands;
use crate::matmul::plan::MatmulPlan;
use crate::matmul::prepared::PreparedMatrix;
use crate::matmul::select::Request;
use crate::matmul::types::sealed::Computes;
use crate::matmul::types::{Accumulate, Accumulator, MatmulElement, MatmulInto};
use crate::matrix::{
    AsMatrixBatchMut, AsMatrixViewMut, Matrix, MatrixBatch, MatrixBatchMut, MatrixView,
};
use cuda_std::float::Float;

/// A product with choices, and with what becomes of it on its way to memory:
///
/// ```text
/// C' = activation(alpha row_scale[i] column_scale[j] (A B)[i, j] + beta C[i, j] + row_bias[i] + column_bias[j])
/// ```
///
/// All of it is computed where the sums are, in type `S`, before they are rounded to the type of C: no other pass
/// goes over C. `S` is the type of the sums, [`Accumulate::Accumulator`], in which integers wrap around; that of
/// [`dequantized`](Self::dequantized) is f32.
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
pub struct Matmul<'a, T: MatmulElement, S: Accumulator = <T as Accumulate>::Accumulator> {
    operands: Operands<'a, T>,
    arithmetic: Arithmetic,
    tiles: Option<TileConfig>,
    capability: Option<(u32, u32)>,
    epilogue: Epilogue<'a, S>,
}

impl<'a> Matmul<'a, f32> {
    /// The product A B with a B that [`Device::prepare`] has taken apart.
    #[must_use]
    pub fn with_prepared(a: impl Into<MatrixBatch<'a, f32>>, b: &'a PreparedMatrix<'a>) -> Self {
        let mut product = Self::new(a, b.matrix());
        product.operands.prepared = [None, Some(b)];
        product
    }
}

impl<'a, T: MatmulElement> Matmul<'a, T> {
    /// The product A B of an M x K and a K x N matrix, on their device; of a [`MatrixBatch`] the products
    /// of all its matrices, in one launch. A single matrix beside a batch is an operand of all products.
    #[must_use]
    pub fn new(a: impl Into<MatrixBatch<'a, T>>, b: impl Into<MatrixBatch<'a, T>>) -> Self {
        Self::of(Operands::new(a.into(), b.into()))
    }

    /// The product as a new row-major matrix; those of a batch one below the other.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if A's columns are not B's rows;
    /// [`ErrorKind::BatchMismatch`](crate::ErrorKind::BatchMismatch) if A and B are batches of different
    /// numbers of matrices; [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if a scale or a bias has another number of
    /// elements than the product has rows or columns;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if the operands are of different devices;
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) if the device has no kernel for the type or the
    /// arithmetic; [`ErrorKind::DriverTooOld`](crate::ErrorKind::DriverTooOld) if it has one that its driver
    /// does not read, and no other; [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if the result cannot be counted;
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory),
    /// [`ErrorKind::NoModule`](crate::ErrorKind::NoModule),
    /// [`ErrorKind::DeviceLost`](crate::ErrorKind::DeviceLost) or
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
    pub fn run(&self) -> Result<Matrix<T::Product>> {
        self.product(self.device()).during("Matmul::run")
    }

    /// The kernel that [`run`](Self::run) selects, and why.
    ///
    /// With [`Arithmetic::Split`] the outputs of lines whose elements are too far apart, or infinite, or
    /// NaN, are computed by another kernel, in order of k: the device finds them.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) or
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel), as for [`run`](Self::run).
    pub fn plan(&self) -> Result<MatmulPlan> {
        self.plan_of::<T::Product>().during("Matmul::plan")
    }
}

impl<'a> Matmul<'a, i8, f32> {
    /// The product A B of matrices of i8 that were quantised, on their way back to numbers: the sums are those of
    /// [`Matmul::new`], exact in i32, each is rounded to f32, ties to even, and alpha, beta, scales, biases and
    /// activation are computed in f32. An output of f32, bf16 or f16, [`run_as`](Self::run_as) and
    /// [`run_into`](Self::run_into), is rounded once more if it has 16 bits. A sum of less than 2^24 in magnitude is an f32.
    ///
    /// Weights with a scale for each output, activations with one for each row:
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
    /// Compute capability 8.0 or the simulator; [`Arithmetic::Chain`] has no kernel.
    #[doc(alias = "w8a8")]
    #[doc(alias = "quantized")]
    #[must_use]
    pub fn dequantized(
        a: impl Into<MatrixBatch<'a, i8>>,
        b: impl Into<MatrixBatch<'a, i8>>,
    ) -> Self {
        Self::of(Operands::new(a.into(), b.into()))
    }
}

impl<'a, T: MatmulElement, S: Accumulator> Matmul<'a, T, S> {
    pub(super) fn of(operands: Operands<'a, T>) -> Self {
        Self {
            operands,
            arithmetic: Arithmetic::Auto,
            tiles: None,
            capability: None,
            epilogue: Epilogue::identity(),
        }
    }

    /// How it is computed.
    #[must_use]
    pub fn arithmetic(mut self, arithmetic: Arithmetic) -> Self {
        self.arithmetic = arithmetic;
        self
    }

    /// In which tiles, instead of those that [`plan`](Self::plan) selects; the bits of the product do not
    /// depend on them. Products with a vector have one size, and the parts of a divided K select theirs.
    #[must_use]
    pub fn tiles(mut self, tiles: TileConfig) -> Self {
        self.tiles = Some(tiles);
        self
    }

    /// By the kernels that a device of compute capability `major`.`minor` has, on one that is newer, to test and
    /// to time what the older one runs; on one that is not newer the call changes nothing. Tensor cores round
    /// as those of the device that runs the kernel, or that the simulator stands for.
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

    /// What the products are multiplied by: 1 if not given. With 0 A and B are not read.
    #[must_use]
    pub fn alpha(mut self, alpha: S) -> Self {
        self.epilogue.alpha = alpha;
        self
    }

    /// What C is multiplied by before it is added: 0 if not given, for which C is not read. A new C is
    /// zero.
    #[must_use]
    pub fn beta(mut self, beta: S) -> Self {
        self.epilogue.beta = beta;
        self
    }

    /// M factors, one for each row of the product.
    #[must_use]
    pub fn row_scale(mut self, scale: impl Into<BufferView<'a, S>>) -> Self {
        self.epilogue.rows.scale = Some(scale.into());
        self
    }

    /// N factors, one for each column of the product.
    #[must_use]
    pub fn column_scale(mut self, scale: impl Into<BufferView<'a, S>>) -> Self {
        self.epilogue.columns.scale = Some(scale.into());
        self
    }

    /// M numbers, each of which is added to a row of the product.
    #[must_use]
    pub fn row_bias(mut self, bias: impl Into<BufferView<'a, S>>) -> Self {
        self.epilogue.rows.bias = Some(bias.into());
        self
    }

    /// N numbers, each of which is added to a column of the product.
    #[must_use]
    pub fn column_bias(mut self, bias: impl Into<BufferView<'a, S>>) -> Self {
        self.epilogue.columns.bias = Some(bias.into());
        self
    }

    /// What is applied to each output at last. Integers have none.
    #[must_use]
    pub fn activation(mut self, activation: Activation) -> Self
    where
        S: Float,
    {
        self.epilogue.activation = activation;
        self
    }

    /// The product as a new row-major matrix of type `O`: `product.run_as::<f32>()` of f16, bf16 or 8-bit floats, and
    /// f32, bf16 or f16 of [`dequantized`](Matmul::dequantized) i8.
    ///
    /// # Errors
    /// Those of [`Matmul::run`].
    pub fn run_as<O: Element>(&self) -> Result<Matrix<O>>
    where
        T: MatmulInto<O, S>,
    {
        self.product(self.device()).during("Matmul::run_as")
    }

    /// The product into an M x N matrix of either [`Order`](crate::Order) that is there, into a part
    /// of one, or into a batch of such matrices, which it overwrites, or to which it is added: see [`beta`](Self::beta). f16, bf16
    /// and 8-bit floats also go into matrices of f32.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not M x N, and those of
    /// [`Matmul::run`].
    pub fn run_into<O: Element>(&self, c: &mut impl AsMatrixBatchMut<O>) -> Result<()>
    where
        T: MatmulInto<O, S>,
    {
        self.multiply(self.device(), c.as_matrix_batch_mut())
            .during("Matmul::run_into")
    }

    /// The kernel that [`run_as`](Self::run_as) selects for outputs of type `O`, and why.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) or
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel), as for [`run_as`](Self::run_as).
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
        self.device()
            .plan::<T, O, S>(self.request(), self.operands, &self.epilogue)
    }

    fn device(&self) -> &'a Device {
        self.operands.a.first().device()
    }

    /// The product in a new matrix of `device`.
    pub(super) fn product<O: Element>(&self, device: &Device) -> Outcome<Matrix<O>>
    where
        T: Computes<O, S>,
    {
        let mut product = *self;
        product.epilogue.beta = S::ZERO;
        device.product(product.request(), self.operands, product.epilogue)
    }

    /// The product in `c`.
    pub(super) fn multiply<O: Element>(
        &self,
        device: &Device,
        c: MatrixBatchMut<'_, O>,
    ) -> Outcome<()>
    where
        T: Computes<O, S>,
    {
        device.multiply(self.request(), self.operands, c, self.epilogue)
    }

    fn request(&self) -> Request {
        let arithmetic = self.epilogue.arithmetic(self.arithmetic);
        match self.capability {
            Some(capability) => Request::FastestAt(capability, arithmetic, self.tiles),
            None => Request::Fastest(arithmetic, self.tiles),
        }
    }
}

impl Device {
    /// The product A B of an M x K and a K x N matrix, M x N, by the fastest kernel that keeps the
    /// promise of the type ([`MatmulElement`]).
    ///
    /// An operand is `&matrix`, its transpose `matrix.t()` or a part of it ([`Matrix::slice`]), in
    /// either [`Order`](crate::Order); the product is row-major.
    ///
    /// Element by element |C' - C| <= gamma_K |A||B| for f32 and f64, whatever the elements (Higham,
    /// Accuracy and Stability of Numerical Algorithms, 3.5), as long as nothing underflows.
    ///
    /// The device, the type and M, N and K select the kernel ([`Matmul::plan`]), and so the bits of an
    /// f32 product: the same in every run, and from operands in either order, wherever they lie.
    /// [`Matmul::arithmetic`] with [`Arithmetic::Chain`](crate::Arithmetic::Chain) gives the bits of
    /// [`Device::matmul_tiled`] on every device. A product of a matrix and a vector adds in another order
    /// than those, the same on every device: see [`Device::matvec`]. So does one with a small result and a
    /// large K, which is divided into parts: their number depends on M, N, K and the type alone, but for f32 on
    /// compute capability 9.0, where larger results have parts on tensor cores. f32 on tensor
    /// cores takes (M + N) K words of memory for the halves of the elements, until the product is done.
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
    /// Those of [`Matmul::run`].
    #[doc(alias = "gemm")]
    #[doc(alias = "dot")]
    #[doc(alias = "mul")]
    pub fn matmul<'a, 'b, T: MatmulElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
    ) -> Result<Matrix<T::Product>> {
        let (a, b) = (a.into(), b.into());
        Matmul::new(a, b).product(self).during("matmul")
    }

    /// [`Device::matmul`] into an M x N matrix of either [`Order`](crate::Order) that is there, or into a
    /// part of one ([`MatrixViewMut`](crate::MatrixViewMut)), whose elements it overwrites.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if C is not M x N, and those of
    /// [`Matmul::run`].
    pub fn matmul_into<'a, 'b, T: MatmulInto<O>, O: Element>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
        c: &mut impl AsMatrixViewMut<O>,
    ) -> Result<()> {
        let (a, b) = (a.into(), b.into());
        Matmul::new(a, b)
            .multiply(self, c.as_matrix_view_mut().into())
            .during("matmul_into")
    }
}

//! Products of unequal shapes.

use super::element::{MatmulElement, MatmulInto};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result, check_length};
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::epilogue::{Activation, Epilogue};
use crate::matmul::execute::Computes;
use crate::matmul::operands::Operands;
use crate::matrix::{AsMatrixViewMut, IntoMatrixView, Matrix, MatrixViewMut};
use crate::setters::setters;
use cuda_std::float::Float;

/// Products of matrices of unequal shapes, in one launch where possible.
///
/// A group computes `C'[i] = activation(alpha A[i] B[i] + beta C[i])` for lists of matrices that can lie anywhere in
/// memory.
///
/// | type | products that share a launch, up to 64 with the same orders | products with a launch of their own |
/// |---|---|---|
/// | f32 | those on CUDA cores, with the bits of [`Arithmetic::Chain`] | those large enough for tensor cores ([`Arithmetic::Split`]) |
/// | f64 | the same | those that fill the device, on tensor cores |
/// | f16, bf16 | those on tensor cores with results of the operands' type, from compute capability 8.0 on | vectors; small results with a large K; results that fill half of the device; operands whose rows (columns, if column-major) do not start at multiples of 16 bytes |
/// | others | none | all, one after another |
///
/// A shared launch allocates nothing. In a shared launch of f32 or f64, products with a vector and small results with a
/// large K also have the bits of a chain. Products of f16 and bf16 have the same bits as on their own.
///
/// ```
/// use tilewright::{Device, MatmulGroup};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let tokens = device.matrix((3, 2), &[1.0_f32, 0.0, 0.0, 1.0, 2.0, 2.0])?;
/// let experts = [
///     device.matrix((2, 1), &[1.0, 10.0])?,
///     device.matrix((2, 1), &[5.0, 7.0])?,
/// ];
/// // Two tokens for one expert, one for the other; results in the rows of one matrix.
/// let mut out = device.matrix_zeros((3, 1))?;
/// let (first, second) = out.split_rows_at_mut(2)?;
/// MatmulGroup::new([
///     (tokens.slice(..2, ..)?, experts[0].view()),
///     (tokens.slice(2.., ..)?, experts[1].view()),
/// ])
/// .run_into(&mut [first, second])?;
/// assert_eq!(out.to_vec()?, [1.0, 10.0, 24.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "grouped_gemm")]
#[doc(alias = "batched_gemm")]
pub struct MatmulGroup<'a, T: MatmulElement> {
    products: Vec<Operands<'a, T>>,
    arithmetic: Arithmetic,
    epilogue: Epilogue<'a, T::Accumulator>,
}

impl<'a, T: MatmulElement> MatmulGroup<'a, T> {
    /// The products A B of pairs (A, B), on the device of the first A.
    #[must_use]
    pub fn new<A, B>(pairs: impl IntoIterator<Item = (A, B)>) -> Self
    where
        A: IntoMatrixView<'a, T>,
        B: IntoMatrixView<'a, T>,
    {
        let operands = |(a, b): (A, B)| Operands::new(a.into().into(), b.into().into());
        Self {
            products: pairs.into_iter().map(operands).collect(),
            arithmetic: Arithmetic::Auto,
            epilogue: Epilogue::identity(),
        }
    }

    setters! {
        /// Sets how the products are computed: [`Arithmetic::Auto`] if not given.
        arithmetic(arithmetic: Arithmetic) => arithmetic = arithmetic;

        /// Sets the factor of the products: 1 if not given. With 0 the operands are not read.
        alpha(alpha: T::Accumulator) => epilogue.alpha = alpha;

        /// Sets the factor of each C: 0 if not given.
        ///
        /// With 0, no C is read. A new C counts as zero.
        beta(beta: T::Accumulator) => epilogue.beta = beta;
    }

    /// Sets the activation, which is applied last to each output. Integer products have no activation.
    #[must_use]
    pub fn activation(mut self, activation: Activation) -> Self
    where
        T::Accumulator: Float,
    {
        self.epilogue.activation = activation;
        self
    }

    /// Computes the products as new row-major matrices, in order.
    ///
    /// # Errors
    /// The errors of [`Matmul::run`](crate::Matmul::run). If one product cannot be computed, none is returned.
    pub fn run(&self) -> Result<Vec<Matrix<T::Product>>> {
        let products = match self.device() {
            Some(device) => self.in_new(device),
            None => Ok(Vec::new()),
        };
        products.during("MatmulGroup::run")
    }

    /// Writes the products to existing matrices, or to parts of them, in order.
    ///
    /// The results may be in either [`Order`](crate::Order). They are overwritten, unless [`beta`](Self::beta) adds a
    /// multiple of them to the products.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if the number of results is not the number of
    /// products, [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if one of them is not M x N, and those
    /// of [`Matmul::run`](crate::Matmul::run). Shapes and devices are checked before anything is computed.
    pub fn run_into<O: Element>(&self, results: &mut [impl AsMatrixViewMut<O>]) -> Result<()>
    where
        T: MatmulInto<O>,
    {
        let rule = "one for each product";
        let checked = check_length(
            "the list of results",
            results.len(),
            self.products.len(),
            rule,
        );
        let written = checked.and_then(|()| match self.device() {
            Some(device) => {
                let results = results.iter_mut().map(AsMatrixViewMut::as_matrix_view_mut);
                self.multiply(device, results.collect(), self.epilogue)
            }
            None => Ok(()),
        });
        written.during("MatmulGroup::run_into")
    }

    /// The device of the first operand.
    fn device(&self) -> Option<&'a Device> {
        self.products.first().map(|it| it.a.first().device())
    }

    fn in_new(&self, device: &Device) -> Outcome<Vec<Matrix<T::Product>>> {
        let new = |operands: &Operands<'a, T>| {
            operands.check_inner()?;
            let (a, b) = (operands.a.first(), operands.b.first());
            Matrix::uninit(device, (a.rows(), b.cols()).into())
        };
        let mut results = self.products.iter().map(new).collect::<Outcome<Vec<_>>>()?;
        let views = results.iter_mut().map(Matrix::view_mut).collect();
        self.multiply(device, views, self.epilogue.in_new())?;
        Ok(results)
    }

    fn multiply<O: Element>(
        &self,
        device: &Device,
        results: Vec<MatrixViewMut<'_, O>>,
        epilogue: Epilogue<'_, T::Accumulator>,
    ) -> Outcome<()>
    where
        T: Computes<O, T::Accumulator>,
    {
        let products = self.products.iter().copied().zip(results);
        T::write_all(device, self.arithmetic, products.collect(), epilogue)
    }
}

impl Device {
    /// The products of pairs of matrices of any shapes, as new row-major matrices, in order.
    ///
    /// [`MatmulGroup`] takes options; its page says which products share a launch.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = device.matrix((1, 2), &[1.0_f32, 2.0])?;
    /// let b = device.matrix((2, 2), &[1.0, 0.0, 0.0, 1.0])?;
    /// let products = device.matmul_grouped([(&a, &b), (&b, &b)])?;
    /// assert_eq!(products[0].to_vec()?, [1.0, 2.0]);
    /// assert_eq!(products[1].to_vec()?, [1.0, 0.0, 0.0, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`MatmulGroup::run`].
    #[doc(alias = "grouped_gemm")]
    pub fn matmul_grouped<'a, T, A, B>(
        &self,
        pairs: impl IntoIterator<Item = (A, B)>,
    ) -> Result<Vec<Matrix<T::Product>>>
    where
        T: MatmulElement,
        A: IntoMatrixView<'a, T>,
        B: IntoMatrixView<'a, T>,
    {
        let group = MatmulGroup::new(pairs);
        group.in_new(self).during("matmul_grouped")
    }
}

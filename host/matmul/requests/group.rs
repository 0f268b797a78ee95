//! Products of unequal shapes.

use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result, check_length};
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::epilogue::{Activation, Epilogue};
use crate::matmul::matrices::{Matrices, Operands};
use crate::matmul::types::sealed::Computes;
use crate::matmul::types::{MatmulElement, MatmulInto};
use crate::matrix::{AsMatrixViewMut, Matrix, MatrixView, MatrixViewMut};
use cuda_std::float::Float;
use tilewright_kernels::epilogue::EpilogueElement as _;

/// Products of matrices of unequal shapes, or of a list of matrices that lie anywhere:
/// `C'[i] = activation(alpha A[i] B[i] + beta C[i])`.
///
/// f32 and f64: up to 64 products whose operands have the same orders are one launch, which allocates nothing.
/// Each product has the bits of [`Arithmetic::Chain`], a vector or a small result with a large K as well. A
/// product that runs on tensor cores is launched alone: one of f32 that is large enough
/// ([`Arithmetic::Split`]), and one of f64 that fills the device.
///
/// f16 and bf16, to the same type, from compute capability 8.0 on: products share a launch in the same way, on
/// tensor cores, and each has the bits that it has alone. Vectors, small results with a large K, results that fill
/// half of the device, and operands whose rows (columns, if column-major) do not start at multiples of 16 bytes are
/// launched alone. Products of all other types run one after the other.
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
    /// The products of the pairs' left matrices with their right ones, on the device of the first.
    #[must_use]
    pub fn new<A, B>(pairs: impl IntoIterator<Item = (A, B)>) -> Self
    where
        A: Into<MatrixView<'a, T>>,
        B: Into<MatrixView<'a, T>>,
    {
        let operands = |(a, b): (A, B)| Operands::new(a.into().into(), b.into().into());
        Self {
            products: pairs.into_iter().map(operands).collect(),
            arithmetic: Arithmetic::Auto,
            epilogue: Epilogue::identity(),
        }
    }

    /// How they are computed.
    #[must_use]
    pub fn arithmetic(mut self, arithmetic: Arithmetic) -> Self {
        self.arithmetic = arithmetic;
        self
    }

    /// What the products are multiplied by: 1 if not given. With 0 the operands are not read.
    #[must_use]
    pub fn alpha(mut self, alpha: T::Accumulator) -> Self {
        self.epilogue.alpha = alpha;
        self
    }

    /// What each C is multiplied by before it is added: 0 if not given, for which none is read. A new C is
    /// zero.
    #[must_use]
    pub fn beta(mut self, beta: T::Accumulator) -> Self {
        self.epilogue.beta = beta;
        self
    }

    /// What is applied to each output at last. Integers have none.
    #[must_use]
    pub fn activation(mut self, activation: Activation) -> Self
    where
        T::Accumulator: Float,
    {
        self.epilogue.activation = activation;
        self
    }

    /// The products as new row-major matrices, in order.
    ///
    /// # Errors
    /// Those of [`Matmul::run`](crate::Matmul::run); where one product cannot be computed, none is returned.
    pub fn run(&self) -> Result<Vec<Matrix<T::Product>>> {
        let products = match self.device() {
            Some(device) => self.in_new(device),
            None => Ok(Vec::new()),
        };
        products.during("MatmulGroup::run")
    }

    /// The products into matrices that are there, of either [`Order`](crate::Order), or into parts of such, in
    /// order: they are overwritten, or the products are added to them, see [`beta`](Self::beta).
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if there are not as many results as products,
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if one of them is not M x N, and those of
    /// [`Matmul::run`](crate::Matmul::run). Shapes and devices are compared before anything is computed.
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

    /// That of the first operand.
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
        let mut epilogue = self.epilogue;
        epilogue.beta = T::Accumulator::ZERO;
        let views = results.iter_mut().map(Matrix::view_mut).collect();
        self.multiply(device, views, epilogue)?;
        Ok(results)
    }

    fn multiply<O: Element>(
        &self,
        device: &Device,
        results: Vec<MatrixViewMut<'_, O>>,
        epilogue: Epilogue<'_, T::Accumulator>,
    ) -> Outcome<()>
    where
        T: Computes<O>,
    {
        let matrices = self.products.iter().zip(results);
        let matrices =
            matrices.map(|(operands, c)| Matrices::of(device, *operands, c.into(), epilogue));
        let matrices = matrices.collect::<Outcome<Vec<_>>>()?;
        let arithmetic = epilogue.arithmetic(self.arithmetic);
        T::multiply_all(device, arithmetic, matrices.into_iter().flatten().collect())
    }
}

impl Device {
    /// The products of pairs of matrices of any shapes, as new row-major matrices, in order: see
    /// [`MatmulGroup`].
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
    /// Those of [`MatmulGroup::run`].
    #[doc(alias = "grouped_gemm")]
    pub fn matmul_grouped<'a, T, A, B>(
        &self,
        pairs: impl IntoIterator<Item = (A, B)>,
    ) -> Result<Vec<Matrix<T::Product>>>
    where
        T: MatmulElement,
        A: Into<MatrixView<'a, T>>,
        B: Into<MatrixView<'a, T>>,
    {
        let group = MatmulGroup::new(pairs);
        group.in_new(self).during("matmul_grouped")
    }
}

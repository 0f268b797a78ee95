//! Products of unequal shapes: on the ordinary units in one launch, others one after the other.

use super::arithmetic::Arithmetic;
use super::element::GemmElement;
use super::epilogue::{Activation, Epilogue, Stores};
use super::fastest::sealed::Computes;
use super::fastest::{Accumulator, MatmulElement, MatmulInto};
use super::kernel::{GemmKernel, Method, TileConfig};
use super::matrices::{Factors, Matrices};
use super::operands::{read_elements, written_by_product};
use super::problem::Problem;
use super::select::{Request, Selection, fills_device, large_tiles_pay, select};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::launch::LaunchConfig;
use crate::matrix::{AsMatrixViewMut, Matrix, MatrixView, MatrixViewMut};
use crate::module::Module;
use bytemuck::Zeroable;
use cuda_std::float::Float;
use tilewright_kernels::matmul::{GROUP, GroupedProduct, ProductGroup};

/// Products of matrices of unequal shapes, or of a list of matrices that lie anywhere:
/// `C'[i] = activation(alpha A[i] B[i] + beta C[i])`.
///
/// f32 and f64: up to 64 products whose operands have the same orders are one launch, which allocates nothing.
/// Each product has the bits of [`Arithmetic::Chain`], a vector or a small result with a large K as well. A
/// product that runs on tensor cores is launched alone: one of f32 that is large enough
/// ([`Arithmetic::Split`]), and one of f64 that fills the device. Products of all other types run one after the
/// other.
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
    products: Vec<Factors<'a, T>>,
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
        let factors = |(a, b): (A, B)| Factors::new(a.into().into(), b.into().into());
        Self {
            products: pairs.into_iter().map(factors).collect(),
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
        products.during("matmul_grouped")
    }

    /// The products into matrices that are there, of either [`Order`](crate::Order), or into parts of such, in
    /// order: they are overwritten, or the products are added to them, see [`beta`](Self::beta).
    ///
    /// # Errors
    /// [`ErrorKind::BatchMismatch`] if there are not as many results as products,
    /// [`ErrorKind::ShapeMismatch`] if one of them is not M x N, and those of
    /// [`Matmul::run`](crate::Matmul::run). Shapes and devices are compared before anything is computed.
    pub fn run_into<O: Element>(&self, results: &mut [impl AsMatrixViewMut<O>]) -> Result<()>
    where
        T: MatmulInto<O>,
    {
        let (left, right) = (self.products.len(), results.len());
        let written = match self.device() {
            _ if left != right => Err(ErrorKind::BatchMismatch { left, right }),
            Some(device) => {
                let results = results.iter_mut().map(AsMatrixViewMut::as_matrix_view_mut);
                self.multiply(device, results.collect(), self.epilogue)
            }
            None => Ok(()),
        };
        written.during("matmul_grouped")
    }

    /// That of the first operand.
    fn device(&self) -> Option<&'a Device> {
        self.products.first().map(|it| it.a.first().device())
    }

    fn in_new(&self, device: &Device) -> Outcome<Vec<Matrix<T::Product>>> {
        let new = |factors: &Factors<'a, T>| {
            factors.check_inner()?;
            let (a, b) = (factors.a.first(), factors.b.first());
            Matrix::uninit(device, (a.rows(), b.cols()).into())
        };
        let mut results = self.products.iter().map(new).collect::<Outcome<Vec<_>>>()?;
        let mut epilogue = self.epilogue;
        epilogue.beta = tilewright_kernels::epilogue::EpilogueElement::ZERO;
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
            matrices.map(|(factors, c)| Matrices::of(device, *factors, c.into(), epilogue));
        let matrices = matrices.collect::<Outcome<Vec<_>>>()?;
        let arithmetic = match epilogue.reads_operands() {
            true => self.arithmetic,
            false => Arithmetic::Auto,
        };
        T::multiply_all(device, arithmetic, matrices.into_iter().flatten().collect())
    }
}

/// Products one after the other.
pub fn multiply_each<T: Computes<O>, O: Element>(
    device: &Device,
    arithmetic: Arithmetic,
    products: Vec<Matrices<'_, T, O, T::Accumulator>>,
) -> Outcome<()> {
    products
        .into_iter()
        .try_for_each(|matrices| multiply_one(device, arithmetic, matrices))
}

fn multiply_one<T: Computes<O>, O: Element>(
    device: &Device,
    arithmetic: Arithmetic,
    matrices: Matrices<'_, T, O, T::Accumulator>,
) -> Outcome<()> {
    let (element, output) = T::TYPES;
    let problem = matrices.problem(element, output);
    let selection = device.select_kernel(Request::Fastest(arithmetic, None), &problem)?;
    T::multiply(device, selection, matrices)
}

/// A product on the ordinary units.
struct Grouped<'a, T: Element> {
    matrices: Matrices<'a, T, T, T>,
    problem: Problem,
}

/// Products in as few launches as there are pairs of orders, but for those on tensor cores.
pub fn multiply<T>(
    device: &Device,
    arithmetic: Arithmetic,
    products: Vec<Matrices<'_, T, T, T>>,
) -> Outcome<()>
where
    T: GemmElement + Accumulator + Computes<T, Accumulator = T>,
{
    let mut groups: [Vec<Grouped<'_, T>>; 4] = Default::default();
    let (element, output) = T::TYPES;
    for matrices in products {
        let problem = matrices.problem(element, output);
        let alone = device.select_kernel(Request::Fastest(arithmetic, None), &problem)?;
        let is_alone = match alone.kernel.method {
            Method::Split => true,
            Method::Mma(_) => fills_device(&problem, device.facts()),
            _ => false,
        };
        if is_alone {
            T::multiply(device, alone, matrices)?;
        } else if !matrices.fit_group() {
            multiply_one(device, Arithmetic::Chain, matrices)?;
        } else {
            let number = 2 * problem.a.order as usize + problem.b.order as usize;
            groups[number].push(Grouped { matrices, problem });
        }
    }
    groups
        .into_iter()
        .try_for_each(|group| launch_group(device, group))
}

/// Products whose operands have the same orders.
fn launch_group<T: GemmElement + Accumulator>(
    device: &Device,
    mut group: Vec<Grouped<'_, T>>,
) -> Outcome<()> {
    let Some(first) = group.first() else {
        return Ok(());
    };
    let small = device.select_kernel(Request::Grouped(TileConfig::Small), &first.problem)?;
    let large = select(
        &first.problem,
        device.facts(),
        Request::Grouped(TileConfig::Large),
    );
    let covered = |kernel: &GemmKernel| -> u64 {
        let tile = &kernel.descriptor.tile;
        let covered = group.iter().filter_map(|it| it.problem.covered(tile));
        covered.sum()
    };
    let is_faster = |large: &Selection| {
        let blocks: u64 = group.iter().map(|it| it.blocks(large.kernel)).sum();
        blocks >= u64::from(device.facts().large_blocks())
            && large_tiles_pay(covered(large.kernel), covered(small.kernel))
    };
    let kernel = large.filter(is_faster).unwrap_or(small).kernel;
    // Blocks that take longest come first, so that the last ones are short.
    group.sort_by_key(|it| std::cmp::Reverse(it.problem.k));
    while !group.is_empty() {
        let count = fitting(&group, kernel);
        if count == 0 {
            return Err(ErrorKind::TooLarge {
                what: format!(
                    "a result of {}x{} elements",
                    group[0].problem.m, group[0].problem.n
                ),
                remedy: "a grid can have at most 2^31 - 1 blocks: multiply parts of the matrices",
            });
        }
        launch(device, kernel, group.drain(..count).collect())?;
    }
    Ok(())
}

/// How many of the first products one launch can have.
fn fitting<T: GemmElement + Accumulator>(group: &[Grouped<'_, T>], kernel: &GemmKernel) -> usize {
    let blocks = group.iter().scan(0, |before, it| {
        *before += it.blocks(kernel);
        Some(*before)
    });
    blocks
        .take(GROUP)
        .take_while(|&blocks| blocks <= i32::MAX as u64)
        .count()
}

impl<T: GemmElement + Accumulator> Grouped<'_, T> {
    /// Blocks of the product; more than a grid can have where it cannot have them.
    fn blocks(&self, kernel: &GemmKernel) -> u64 {
        self.problem
            .blocks(&kernel.descriptor.tile)
            .map_or(1 << 32, u64::from)
    }
}

/// One launch.
fn launch<T: GemmElement + Accumulator>(
    device: &Device,
    kernel: &'static GemmKernel,
    products: Vec<Grouped<'_, T>>,
) -> Outcome<()> {
    let launch = T::group_launch_of(kernel.entry).expect("the kernel is of the elements");
    let epilogue = products[0].matrices.epilogue.arguments(Stores::Plain);
    let mut group = ProductGroup::zeroed();
    group.count = products.len() as u64;
    let mut blocks = 0;
    for (place, product) in group.products.iter_mut().zip(products) {
        let of_product = product.blocks(kernel);
        *place = product.matrices.into_grouped(blocks);
        blocks += of_product;
    }
    let module = Module::on_demand(device, kernel.module);
    let config = LaunchConfig::new(blocks as u32, kernel.descriptor.tile.threads);
    // SAFETY: (1) is (1) to (3) of the kernels: (1) block and grid are the tile's for all products. (2) The
    // shapes were compared, and the addresses are those of views. Each C is borrowed mutably, so it has no
    // common element with another matrix. (3) The kernel was selected by the orders of all operands of the
    // group. (2) The matrices are of this device, and their borrows outlive this call.
    unsafe { launch(&module, config, &group, &epilogue.numbers) }
}

impl<'a, T: Element + tilewright_kernels::epilogue::EpilogueElement> Matrices<'a, T, T, T> {
    /// Whether the table of a group has room for their sizes.
    fn fit_group(&self) -> bool {
        let (m, n, k) = self.extents();
        let (lda, ldb) = (self.a.first(), self.b.first());
        let sizes = [
            m,
            n,
            k,
            lda.leading_dimension(),
            ldb.leading_dimension(),
            self.c.view().first().leading_dimension(),
        ];
        sizes.into_iter().all(|it| u32::try_from(it).is_ok())
    }

    /// The place of a product in the table of a group, behind so many blocks.
    fn into_grouped(self, first_block: u64) -> GroupedProduct {
        let (m, n, k) = self.extents();
        let Self { a, b, c, .. } = self;
        let (lda, ldb) = (a.first().leading_dimension(), b.first().leading_dimension());
        let ldc = c.view().first().leading_dimension();
        // SAFETY: (1) the launch touches the elements of the matrices alone, by (2) of the kernels.
        let (a, b, c) = unsafe { (read_elements(a), read_elements(b), written_by_product(c)) };
        GroupedProduct {
            a: a.as_ptr().expose_provenance() as u64,
            b: b.as_ptr().expose_provenance() as u64,
            c: c.as_mut_ptr().expose_provenance() as u64,
            m: m as u32,
            n: n as u32,
            k: k as u32,
            lda: lda as u32,
            ldb: ldb as u32,
            ldc: ldc as u32,
            first_block,
        }
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

//! Products of matrices.
//!
//! `problem.rs` is what is to be multiplied, `kernels.rs` the table of kernels, `select.rs` the
//! function from the one to a line of the other, `matrices.rs` compares the operands and the result, and
//! `operands.rs` is what a kernel gets of a matrix. `kernel.rs` is a line of the table, `entry.rs` how it is
//! launched, `element.rs` the types it is launched for.
//! `request.rs` is a product with choices, `epilogue.rs` what becomes of its sums.
//! `fastest.rs` has the products of any method; `tensor.rs` and `split.rs` launch those of warpgroups on
//! tensor cores, `mma.rs` those of warps, `words.rs` those of i8 on the ordinary units. `lines.rs` makes operands fit for bulk copies and
//! words, by the transposes of `transpose.rs` where they lie across k; `vector.rs` those of a matrix and a vector;
//! `parts.rs` divides K. `gram.rs` has the products of a matrix with its transpose,
//! `shard.rs` some outputs of a product whose others are computed elsewhere,
//! `group.rs` those of unequal shapes in one launch.

mod arithmetic;
mod element;
mod entry;
mod epilogue;
mod fastest;
mod gram;
mod group;
mod kernel;
mod kernels;
mod lines;
mod matrices;
mod mma;
mod operands;
mod parts;
mod persistent;
mod prepared;
mod problem;
mod request;
mod select;
mod shard;
mod split;
mod tensor;
mod transpose;
mod vector;
mod words;

pub(crate) use epilogue::{Epilogue, LineVectors};
pub(crate) use fastest::sealed::Computes;
pub(crate) use matrices::check_result;
pub(crate) use operands::read_elements;

pub use arithmetic::Arithmetic;
pub use element::GemmElement;
pub use epilogue::Activation;
pub use fastest::{Accumulate, Accumulator, MatmulElement, MatmulInto};
pub use group::MatmulGroup;
pub use kernel::TileConfig;
pub use prepared::PreparedMatrix;
pub use request::Matmul;
pub use select::SelectionReason;

use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::matrix::{AsMatrixViewMut, Matrix, MatrixBatchMut, MatrixView};
use crate::module::Module;
use gram::mirror;
use kernel::{GemmKernel, Method};
use matrices::{Factors, Matrices};
use problem::Problem;
use select::{DeviceFacts, Request, Selection, select};
use std::fmt::{self, Display, Formatter};

/// The kernel that a product uses, and why.
///
/// Its `Display` is one line, such as `matmul_coarsened_small_f32_nn, 64 x 64 outputs for each
/// block: 16 large blocks do not fill the device, which takes 198`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatmulPlan {
    /// The name of the kernel's entry.
    pub kernel: &'static str,
    /// Rows of the result that one block computes.
    pub block_rows: usize,
    /// Columns of the result that one block computes.
    pub block_columns: usize,
    /// Why it was selected.
    pub reason: SelectionReason,
}

impl MatmulPlan {
    fn of(selection: &Selection, problem: &Problem) -> Self {
        let tile = selection.kernel.descriptor.tile;
        let (block_rows, block_columns) = match selection.kernel.method {
            Method::Vector(_) => vector::block_of(problem),
            _ => (tile.rows, tile.columns),
        };
        Self {
            kernel: selection.kernel.name,
            block_rows,
            block_columns,
            reason: selection.reason,
        }
    }
}

impl Display for MatmulPlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            kernel,
            block_rows,
            block_columns,
            reason,
        } = self;
        write!(
            f,
            "{kernel}, {block_rows} x {block_columns} outputs for each block: {reason}"
        )
    }
}

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
    /// [`ErrorKind::ShapeMismatch`] if A's columns are not B's rows; [`ErrorKind::WrongDevice`] if an
    /// operand is of another device; [`ErrorKind::TooLarge`] if the result cannot be counted;
    /// [`ErrorKind::OutOfMemory`], [`ErrorKind::NoModule`], [`ErrorKind::DeviceLost`] or [`ErrorKind::Cuda`].
    pub fn matmul_tiled<'a, 'b, T: GemmElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
    ) -> Result<Matrix<T>> {
        self.product(Request::Tiled, factors(a, b), Epilogue::identity())
            .during("matmul_tiled")
    }

    /// [`Device::matmul_tiled`] into an M x N matrix of either [`Order`](crate::Order) that is there, or into a part
    /// of one ([`MatrixViewMut`](crate::MatrixViewMut)), whose elements it overwrites.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] if C is not M x N, and those of [`Device::matmul_tiled`].
    pub fn matmul_tiled_into<'a, 'b, T: GemmElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
        c: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let (c, plain) = (c.as_matrix_view_mut(), Epilogue::identity());
        self.multiply(Request::Tiled, factors(a, b), c.into(), plain)
            .during("matmul_tiled")
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
        self.product(request, factors(a, b), Epilogue::identity())
            .during("matmul_coarsened")
    }

    /// [`Device::matmul_coarsened`] into an M x N matrix of either [`Order`](crate::Order) that is there, or into a
    /// part of one ([`MatrixViewMut`](crate::MatrixViewMut)), whose elements it overwrites.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] if C is not M x N, and those of [`Device::matmul_tiled`].
    pub fn matmul_coarsened_into<'a, 'b, T: GemmElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
        c: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let (c, plain) = (c.as_matrix_view_mut(), Epilogue::identity());
        let request = Request::Coarsened(None);
        self.multiply(request, factors(a, b), c.into(), plain)
            .during("matmul_coarsened")
    }

    /// [`Device::matmul_coarsened_into`] with tiles of your choice instead of those of
    /// [`Device::matmul_plan`].
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
        self.multiply(request, factors(a, b), c.into(), plain)
            .during("matmul_coarsened")
    }

    /// The kernel that [`Device::matmul_coarsened`] selects for these operands: large tiles if they
    /// give each multiprocessor at least one and a half blocks, and the widest copies that the
    /// operands allow.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0])?;
    /// let plan = device.matmul_plan(&a, a.t())?;
    /// assert_eq!(plan.kernel, "matmul_coarsened_small_f32_nt");
    /// println!("{plan}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] if A's columns are not B's rows; [`ErrorKind::NoKernel`] if the device is
    /// too old for all kernels.
    pub fn matmul_plan<'a, 'b, T: GemmElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'b, T>>,
    ) -> Result<MatmulPlan> {
        let request = Request::Coarsened(None);
        self.plan(request, factors(a, b), &Epilogue::identity())
            .during("matmul_plan")
    }

    /// The kernel of `request` for products in new matrices.
    fn plan<T: MatmulElement>(
        &self,
        request: Request,
        factors: Factors<'_, T>,
        epilogue: &Epilogue<'_, T::Accumulator>,
    ) -> Outcome<MatmulPlan> {
        factors.check_inner()?;
        let types = <T as Computes<T::Product>>::TYPES;
        let problem = factors.problem_of_new(types, epilogue.is_identity())?;
        let selection = self.select_kernel(request, &problem)?;
        Ok(MatmulPlan::of(&selection, &problem))
    }

    /// The products in a new matrix, one below the other.
    fn product<T: Computes<O>, O: Element>(
        &self,
        request: Request,
        factors: Factors<'_, T>,
        epilogue: Epilogue<'_, T::Accumulator>,
    ) -> Outcome<Matrix<O>> {
        factors.check_inner()?;
        let count = factors.products()?;
        let (rows, columns) = (factors.a.first().rows(), factors.b.first().cols());
        let all_rows = rows.checked_mul(count).ok_or_else(|| ErrorKind::TooLarge {
            what: format!("a batch of {count} results with {rows} rows each"),
            remedy: "multiply parts of the batch",
        })?;
        let mut c = Matrix::uninit(self, (all_rows, columns).into())?;
        let results = c.view_mut().into_equal_rows(count)?;
        self.multiply(request, factors, results, epilogue)?;
        Ok(c)
    }

    /// The products in `c`, by the kernel of `request`.
    fn multiply<T: Computes<O>, O: Element>(
        &self,
        request: Request,
        factors: Factors<'_, T>,
        mut c: MatrixBatchMut<'_, O>,
        epilogue: Epilogue<'_, T::Accumulator>,
    ) -> Outcome<()> {
        let Some(matrices) = Matrices::of(self, factors, c.view_mut(), epilogue)? else {
            return Ok(());
        };
        let (element, output) = T::TYPES;
        let problem = matrices.problem(element, output);
        let selection = self.select_kernel(request, &problem)?;
        T::multiply(self, selection, matrices)?;
        match factors.is_gram {
            true => mirror(c),
            false => Ok(()),
        }
    }

    /// Launches a kernel on the ordinary units, which was selected for the operands.
    fn launch_chain<T: GemmElement + Accumulator>(
        &self,
        kernel: &'static GemmKernel,
        matrices: Matrices<'_, T, T, T>,
    ) -> Outcome<()> {
        let launch = T::launch_of(kernel.entry).expect("the kernel is of the problem's element");
        let module = Module::on_demand(self, kernel.module);
        matrices.for_each_grid(|part| {
            let config = part.grid(kernel)?;
            // SAFETY: (1) the launch is one of products, which reads and writes elements of A, B and C
            // alone, by (2) of the kernels.
            let arguments = unsafe { part.arguments() };
            // SAFETY: (1) of `ProductLaunch` is (1) to (3) of the kernels: (1) Block and grid are the
            // tile's for m x n and the batch. (2) The shapes were compared, and a view starts with its
            // first element and reaches to its last. (3) The kernel was selected by the operands' orders
            // and by where their rows start. (2) A, B and C are of this device, are borrowed until this
            // returns, C mutably, and nothing else is touched.
            unsafe { launch(&module, config, arguments) }
        })
    }

    /// The kernel of `request` for the problem.
    fn select_kernel(&self, request: Request, problem: &Problem) -> Outcome<Selection> {
        select(problem, self.facts(), request).ok_or_else(|| ErrorKind::NoKernel {
            problem: problem.to_string(),
            device: self.properties().name.clone(),
        })
    }

    /// What the selection of a kernel depends on.
    fn facts(&self) -> DeviceFacts {
        let properties = self.properties();
        DeviceFacts {
            multiprocessors: properties.multiprocessors,
            compute_capability: properties.compute_capability,
            limit: None,
            warp_threads: properties.warp_threads,
        }
    }
}

/// The operands of a single product.
fn factors<'s, 'a: 's, 'b: 's, T: Element>(
    a: impl Into<MatrixView<'a, T>>,
    b: impl Into<MatrixView<'b, T>>,
) -> Factors<'s, T> {
    let (a, b): (MatrixView<'s, T>, MatrixView<'s, T>) = (a.into(), b.into());
    Factors::new(a.into(), b.into())
}

//! Products of a matrix and a vector.

use super::entry::EpilogueArguments;
use super::epilogue::{Stores, vector};
use super::fastest::sealed::Computes;
use super::fastest::{Accumulator, MatmulElement, MatmulInto};
use super::kernel::{ElementType, GemmKernel, Method, VectorLines};
use super::kernels::KERNELS;
use super::matrices::Matrices;
use super::operands::{read_elements, written_by_product};
use super::problem::{Problem, VectorProduct};
use super::request::Matmul;
use crate::buffer::{Buffer, BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::launch::LaunchConfig;
use crate::launch_args::global_mut;
use crate::matrix::{Matrix, MatrixView, Order};
use crate::module::Module;
use cuda_std::global::{Global, GlobalMut};
use tilewright_kernels::matvec::{
    LINES_OF_GROUP, SHORT_LINES, STRAND_BYTES, VECTOR_STRANDS, VECTOR_THREADS, VectorPlan,
    VectorShape, lines_of_block,
};

/// Groups of threads that fill any device, 32 threads each: an H200 has room for 2112. Contiguous lines that are
/// fewer are divided among several groups.
const GROUPS: usize = 2048;

/// The fewest rounds that a group of threads adds where it has some of a line's parts: with fewer, adding
/// the groups' sums takes longer than the line.
const LEAST_ROUNDS: usize = 8;

/// What a grid may have along x.
const MOST_BLOCKS: usize = i32::MAX as usize;

/// What a grid may have along y.
const MOST_PRODUCTS: usize = 65_535;

/// The arguments of a kernel.
pub struct VectorArguments<'a, T, O, S> {
    pub x: Global<'a, T>,
    pub v: Global<'a, T>,
    pub y: GlobalMut<'a, O>,
    pub shape: VectorShape,
    pub epilogue: EpilogueArguments<'a, S>,
    pub partials: GlobalMut<'a, S>,
    pub tickets: GlobalMut<'a, u32>,
}

/// The launch of a kernel.
///
/// # Safety
/// As for [`ChainLaunch`](super::entry::ChainLaunch).
pub type VectorLaunch<T, O, S> =
    unsafe fn(&Module, LaunchConfig, VectorArguments<'_, T, O, S>) -> Outcome<()>;

/// The launch of one of two kernels, a [`VectorLaunch`].
macro_rules! vector_launch {
    ($lines:expr, $along:ident, $across:ident) => {
        match $lines {
            $crate::matmul::kernel::VectorLines::Along => {
                $crate::matmul::vector::vector_launch!(@kernel $along)
            }
            $crate::matmul::kernel::VectorLines::Across => {
                $crate::matmul::vector::vector_launch!(@kernel $across)
            }
        }
    };
    (@kernel $kernel:ident) => {{
        let launch: $crate::matmul::vector::VectorLaunch<_, _, _> = |module, config, arguments| {
            let $crate::matmul::vector::VectorArguments {
                x, v, y, shape, epilogue, partials, tickets,
            } = arguments;
            let $crate::matmul::entry::EpilogueArguments {
                numbers, row_scale, column_scale, row_bias, column_bias,
            } = epilogue;
            let shape = cuda_std::grid_constant::GridConstant::new(&shape);
            let numbers = cuda_std::grid_constant::GridConstant::new(&numbers);
            let params = (
                x, v, y, shape, numbers, row_scale, column_scale, row_bias, column_bias, partials, tickets,
            );
            // SAFETY: (1), (2) are those of `VectorLaunch`.
            unsafe { module.launch_params(tilewright_kernels::matvec::$kernel, config, params) }
        };
        launch
    }};
}
pub(super) use vector_launch;

/// The blocks of a launch for each product, and what they share.
struct Work {
    /// Outputs of a block.
    lines_of_block: usize,
    blocks: usize,
    lanes: usize,
    parts_of_group: usize,
    lines_of_group: usize,
    /// Partial results and counters of a product.
    partials: usize,
    tickets: usize,
}

impl Work {
    /// For `lines` of `k` elements of `bytes` bytes in each of `products`.
    fn new(order: VectorLines, (lines, k): (usize, usize), bytes: usize, products: usize) -> Self {
        let plan = VectorPlan::new(k, STRAND_BYTES / bytes);
        match order {
            VectorLines::Across => Self::across(lines, plan, bytes),
            VectorLines::Along if k * bytes <= VECTOR_STRANDS * STRAND_BYTES => {
                Self::short(lines, k * bytes)
            }
            VectorLines::Along => Self::along(lines, plan, products),
        }
    }

    fn across(lines: usize, plan: VectorPlan, bytes: usize) -> Self {
        let groups = lines.div_ceil(lines_of_block(bytes));
        let is_shared = plan.parts > 1;
        Self {
            lines_of_block: lines_of_block(bytes),
            blocks: groups.saturating_mul(plan.parts),
            lanes: 0,
            parts_of_group: 1,
            lines_of_group: 1,
            partials: if is_shared { lines * plan.parts } else { 0 },
            tickets: if is_shared { groups } else { 0 },
        }
    }

    /// Contiguous lines of `bytes` bytes, at most a vector for each lane.
    fn short(lines: usize, bytes: usize) -> Self {
        let lanes = bytes.div_ceil(STRAND_BYTES).max(1).next_power_of_two();
        let lines_of_block = VECTOR_THREADS as usize / lanes * SHORT_LINES;
        Self {
            lines_of_block,
            blocks: lines.div_ceil(lines_of_block),
            lanes,
            parts_of_group: 1,
            lines_of_group: 1,
            partials: 0,
            tickets: 0,
        }
    }

    /// Longer contiguous lines.
    fn along(lines: usize, plan: VectorPlan, products: usize) -> Self {
        let all = plan.parts.saturating_mul(lines).saturating_mul(products);
        let worthwhile = LEAST_ROUNDS.div_ceil(plan.rounds);
        let most = (all / GROUPS).max(worthwhile).clamp(1, plan.parts);
        // As even as can be.
        let groups = plan.parts.div_ceil(most);
        let of_block = VECTOR_THREADS as usize / VECTOR_STRANDS;
        let are_many = lines.saturating_mul(products) / LINES_OF_GROUP >= GROUPS;
        let lines_of_group = if are_many { LINES_OF_GROUP } else { 1 };
        let of_groups = lines.div_ceil(lines_of_group).saturating_mul(groups);
        Self {
            lines_of_block: (of_block * lines_of_group / groups).max(1),
            blocks: of_groups.div_ceil(of_block),
            lanes: 0,
            parts_of_group: plan.parts.div_ceil(groups),
            lines_of_group,
            partials: if groups > 1 { lines * plan.parts } else { 0 },
            tickets: if groups > 1 { lines } else { 0 },
        }
    }
}

/// Rows and columns of outputs of a block.
pub fn block_of(problem: &Problem) -> (usize, usize) {
    let Some(VectorProduct { matrix_is_a, lines }) = problem.vector() else {
        return (1, 1);
    };
    let bytes = problem.element.bytes();
    let count = if matrix_is_a { problem.m } else { problem.n };
    let work = Work::new(lines, (count, problem.k), bytes, problem.batch);
    match matrix_is_a {
        true => (work.lines_of_block, 1),
        false => (1, work.lines_of_block),
    }
}

/// C = A B, where A or B is a vector.
pub fn multiply<T: Computes<O>, O: Element>(
    kernel: &'static GemmKernel,
    launch: VectorLaunch<T, O, T::Accumulator>,
    mut matrices: Matrices<'_, T, O, T::Accumulator>,
) -> Outcome<()> {
    let count = matrices.count();
    for first in (0..count).step_by(MOST_PRODUCTS) {
        let part = matrices.part(first, MOST_PRODUCTS.min(count - first));
        launch_part(kernel, launch, part)?;
    }
    Ok(())
}

/// As many products as a grid has along y.
fn launch_part<T: Computes<O>, O: Element>(
    kernel: &'static GemmKernel,
    launch: VectorLaunch<T, O, T::Accumulator>,
    matrices: Matrices<'_, T, O, T::Accumulator>,
) -> Outcome<()> {
    let (element, output) = T::TYPES;
    let vector = matrices.problem(element, output).vector();
    let VectorProduct { matrix_is_a, lines } =
        vector.expect("the kernel was selected for a vector");
    let matrices = match matrix_is_a {
        true => matrices,
        false => matrices.transposed(),
    };
    let (products, (m, _, k)) = (matrices.count(), matrices.extents());
    let Matrices {
        a, b, c, epilogue, ..
    } = matrices;
    let device = a.first().device();
    let work = Work::new(lines, (m, k), size_of::<T>(), products);
    let shape = VectorShape {
        lines: m,
        k,
        x_apart: a.first().leading_dimension(),
        v_apart: elements_apart(b.first()),
        columns: 1,
        y_apart: elements_apart(c.view().first()),
        x_stride: a.stride(),
        v_stride: b.stride(),
        y_stride: c.view().stride(),
        lanes: work.lanes,
        parts_of_group: work.parts_of_group,
        lines_of_group: work.lines_of_group,
    };
    // SAFETY: (1) the launch touches elements of the matrices alone, by (2) of the kernels.
    let operands = unsafe { (read_elements(a), read_elements(b), written_by_product(c)) };
    let module = Module::on_demand(device, kernel.module);
    let epilogue = epilogue.arguments(Stores::Plain);
    // SAFETY: (1) the shapes were compared, the kernel was selected by how the lines lie, and the grid and
    // the lanes are those of `work`. (2) The matrices are borrowed until this returns, C mutably.
    unsafe { work.launch((&module, launch), operands, shape, epilogue, products) }
}

/// C = the sum of `parts` matrices of its shape, one below the other, in place of the product of A and B.
pub fn add_up<T: Computes<T, Accumulator = T> + Accumulator>(
    launch: VectorLaunch<T, T, T>,
    sums: &Matrix<T>,
    parts: usize,
    matrices: Matrices<'_, T, T, T>,
) -> Outcome<()> {
    let (m, n, _) = matrices.extents();
    let Matrices { c, epilogue, .. } = matrices;
    let lines = m * n;
    let work = Work::new(VectorLines::Across, (lines, parts), size_of::<T>(), 1);
    let shape = VectorShape {
        lines,
        k: parts,
        x_apart: lines,
        v_apart: 0,
        columns: n,
        y_apart: c.view().first().leading_dimension(),
        x_stride: 0,
        v_stride: 0,
        y_stride: 0,
        lanes: work.lanes,
        parts_of_group: work.parts_of_group,
        lines_of_group: work.lines_of_group,
    };
    let kernel = kernel_that_adds(T::TYPES.0);
    let module = Module::on_demand(sums.device(), kernel.module);
    // SAFETY: (1) the launch touches elements of the matrices alone, by (2) of the kernels.
    let (x, y) = unsafe { (read_elements(sums.into()), written_by_product(c)) };
    let operands = (x, vector(None), y);
    let epilogue = epilogue.arguments(Stores::Plain);
    // SAFETY: (1) the sums have the elements of all lines, those of neighbours side by side, and C is
    // row-major; the grid is that of `work`. (2) As in `launch_part`.
    unsafe { work.launch((&module, launch), operands, shape, epilogue, 1) }
}

/// The kernel that adds lines whose neighbours' elements are contiguous.
fn kernel_that_adds(element: ElementType) -> &'static GemmKernel {
    let across = Method::Vector(VectorLines::Across);
    KERNELS
        .iter()
        .find(|it| it.method == across && it.element == element && it.output == element)
        .expect("every type has one")
}

impl Work {
    /// Launches a kernel for `products`.
    ///
    /// # Safety
    /// 1. The views, the shape and the grid of this work are as the kernel asks, but for the partial results
    ///    and the tickets.
    /// 2. As (2) of [`ChainLaunch`](super::entry::ChainLaunch).
    unsafe fn launch<T: Element, O: Element, S: Element>(
        &self,
        (module, launch): (&Module, VectorLaunch<T, O, S>),
        (x, v, y): (Global<'_, T>, Global<'_, T>, GlobalMut<'_, O>),
        shape: VectorShape,
        epilogue: EpilogueArguments<'_, S>,
        products: usize,
    ) -> Outcome<()> {
        if self.blocks > MOST_BLOCKS {
            let VectorShape { lines, k, .. } = shape;
            return Err(ErrorKind::TooLarge {
                what: format!("a grid of {} blocks for {lines} sums of {k}", self.blocks),
                remedy: "a grid can have at most 2^31 - 1 blocks: multiply parts of the matrix",
            });
        }
        let config = LaunchConfig::new((self.blocks as u32, products as u32), VECTOR_THREADS);
        let device = module.device();
        let mut partials = Buffer::<S>::uninit(device, products * self.partials)?;
        let mut tickets = Buffer::<u32>::zeroed(device, products * self.tickets)?;
        let arguments = VectorArguments {
            x,
            v,
            y,
            shape,
            epilogue,
            partials: global_mut(partials.view_mut()),
            tickets: global_mut(tickets.view_mut()),
        };
        // SAFETY: (1) of `VectorLaunch` is (1); there is as much room as the work has, and the tickets are
        // new and zeros. (2) is (2), and the memory of the others is freed after the launch, in the device's
        // order.
        unsafe { launch(module, config, arguments) }
    }
}

/// Elements from one element of a matrix of one column to the next.
fn elements_apart<T: Element>(column: MatrixView<'_, T>) -> usize {
    match column.order() {
        Order::RowMajor => column.leading_dimension(),
        Order::ColumnMajor => 1,
    }
}

impl Device {
    /// The product A x of an M x K matrix and a vector of K elements: a buffer of M elements.
    ///
    /// A is `&matrix`, its transpose `matrix.t()` or a part of it, in either [`Order`], without a copy;
    /// `device.matvec(a.t(), &x)` is the product of the row x with A. [`Device::matmul`] has the same bits
    /// where one of its operands is a vector, and `Matmul::new(&a, x.as_column())` choices.
    ///
    /// Each element is the sum of K products, each added by a fused multiply-add, of f64 in f64 and of
    /// f32, f16 and bf16 in f32, and rounded to the type at last: |y' - y| <= gamma_K |A||x| for f32 and
    /// f64. The order depends on K and the type alone, so the bits are the same on every device, whatever
    /// the order of the matrix and the other rows (`docs/products.md`). A sum that is zero is +0. Infinities
    /// and NaN are as in [`Device::matmul_tiled`].
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = device.matrix((2, 3), &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let x = device.upload(&[1.0_f32, 10.0, 100.0])?;
    /// let y = device.matvec(&a, &x)?;
    /// assert_eq!(y.to_vec()?, [321.0, 654.0]);
    /// assert_eq!(device.matvec(a.t(), &y)?.to_vec()?, [2937.0, 3912.0, 4887.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] if A does not have as many columns as x has elements; all others of
    /// [`Matmul::run`].
    pub fn matvec<'a, 'x, T: MatmulElement>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        x: impl Into<BufferView<'x, T>>,
    ) -> Result<Buffer<T::Product>> {
        let (a, x) = (a.into(), x.into());
        self.vector_product(a, x).during("matvec")
    }

    /// [`Device::matvec`] into a buffer or a part of one, whose elements it overwrites.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] if `y` does not have an element for each row of A, and those of
    /// [`Device::matvec`].
    pub fn matvec_into<'a, 'x, 'y, T: MatmulInto<O>, O: Element>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        x: impl Into<BufferView<'x, T>>,
        y: impl Into<BufferViewMut<'y, O>>,
    ) -> Result<()> {
        let (a, x) = (a.into(), x.into());
        let y = y.into().into_column();
        Matmul::new(a, x.as_column())
            .multiply(self, y.into())
            .during("matvec_into")
    }

    fn vector_product<T: MatmulElement>(
        &self,
        a: MatrixView<'_, T>,
        x: BufferView<'_, T>,
    ) -> Outcome<Buffer<T::Product>> {
        let mut y = Buffer::uninit(self, a.rows())?;
        let column = y.view_mut().into_column();
        Matmul::new(a, x.as_column()).multiply(self, column.into())?;
        Ok(y)
    }
}

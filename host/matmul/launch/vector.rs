//! Products of rows or columns of a matrix with a vector, and sums of lines.

use super::lines::Lines;
use crate::buffer::Buffer;
use crate::error::Outcome;
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{global_mut, read_elements, written_by_product};
use crate::matmul::element_type::Typed;
use crate::matmul::entry::{VectorArguments, VectorLaunch};
use crate::matmul::epilogue::{Epilogue, Stores};
use crate::matmul::kernel::{ElementType, GemmKernel, Method, VectorLines};
use crate::matmul::launchers::Launcher;
use crate::matmul::matrices::Matrices;
use crate::matmul::problem::{Problem, VectorProduct};
use crate::matmul::table::kernels_of;
use crate::matmul::types::Accumulator;
use crate::matmul::types::sealed::Computes;
use crate::matrix::{Matrix, MatrixBatch, MatrixBatchMut, MatrixView, Order};
use crate::module::Module;
use crate::workspace::Counters;
use tilewright_kernels::matvec::{
    LINES_OF_BYTES, LINES_OF_GROUP, SHORT_LINES, STRAND_BYTES, VECTOR_STRANDS, VECTOR_THREADS,
    VectorPlan, VectorShape, lines_of_block,
};

/// The number of groups of 32 threads that fill any device: an H200 holds 2112. If there are fewer contiguous
/// lines, several groups share one.
const GROUPS: usize = 2048;

/// The fewest rounds of a group that has some of a line's parts: with fewer, adding the groups' sums takes longer
/// than the line.
const LEAST_ROUNDS: usize = 8;

/// The blocks of a launch for each product, and what they share.
pub struct Work {
    /// Outputs of a block.
    lines_of_block: usize,
    blocks: usize,
    lanes: usize,
    parts_of_group: usize,
    lines_of_group: usize,
    /// The number of partial results and of tickets of a product.
    partials: usize,
    tickets: usize,
}

impl Work {
    /// The work for `lines` of `k` elements of `bytes` bytes in each of `products`.
    pub fn new(
        order: VectorLines,
        (lines, k): (usize, usize),
        bytes: usize,
        products: usize,
    ) -> Self {
        let plan = VectorPlan::new(k, STRAND_BYTES / bytes);
        match order {
            VectorLines::Across => Self::across(lines, plan, bytes),
            VectorLines::Either => Self::grouped(lines, plan, products, LINES_OF_BYTES),
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
        let are_many = lines.saturating_mul(products) / LINES_OF_GROUP >= GROUPS;
        let lines_of_group = if are_many { LINES_OF_GROUP } else { 1 };
        Self::grouped(lines, plan, products, lines_of_group)
    }

    /// Contiguous lines of which a group of threads adds `lines_of_group` at the same time.
    fn grouped(all_lines: usize, plan: VectorPlan, products: usize, lines_of_group: usize) -> Self {
        let lines = all_lines.div_ceil(lines_of_group);
        let all = plan.parts.saturating_mul(lines).saturating_mul(products);
        let worthwhile = LEAST_ROUNDS.div_ceil(plan.rounds);
        let most = (all / GROUPS).max(worthwhile).clamp(1, plan.parts);
        // As evenly as possible.
        let groups = plan.parts.div_ceil(most);
        let of_block = VECTOR_THREADS as usize / VECTOR_STRANDS;
        let of_groups = lines.saturating_mul(groups);
        Self {
            lines_of_block: (of_block * lines_of_group / groups).max(1),
            blocks: of_groups.div_ceil(of_block),
            lanes: 0,
            parts_of_group: plan.parts.div_ceil(groups),
            lines_of_group,
            partials: if groups > 1 {
                all_lines * plan.parts
            } else {
                0
            },
            tickets: if groups > 1 { all_lines } else { 0 },
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
pub fn multiply<T: Computes<O>, O: Typed>(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, O, T::Accumulator>,
) -> Outcome<()> {
    matrices.for_each_grid(|part| launch_part(kernel, part))
}

/// The matrices, transposed if A is the vector, so that B is the vector and the lines are those of A; and the
/// layout of the lines.
pub fn with_vector_last<T: Computes<O, S>, O: Typed, S: Accumulator>(
    matrices: Matrices<'_, T, O, S>,
) -> (Matrices<'_, T, O, S>, VectorLines) {
    let (element, output) = <T as Computes<O, S>>::TYPES;
    let vector = matrices.problem(element, output).vector();
    let VectorProduct { matrix_is_a, lines } =
        vector.expect("the kernel was selected for a vector");
    let matrices = match matrix_is_a {
        true => matrices,
        false => matrices.transposed(),
    };
    (matrices, lines)
}

/// Launches as many products as a grid has along y.
fn launch_part<T: Computes<O>, O: Typed>(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, O, T::Accumulator>,
) -> Outcome<()> {
    let (matrices, order) = with_vector_last(matrices);
    let (products, (m, _, k)) = (matrices.count(), matrices.extents());
    let Matrices {
        a, b, c, epilogue, ..
    } = matrices;
    let work = Work::new(order, (m, k), size_of::<T>(), products);
    // SAFETY: the launch reads only elements of the matrices, as the kernels document.
    let (x, v) = unsafe { (read_elements(a), read_elements(b)) };
    let operands = LinesAndVector {
        x: Lines {
            elements: x,
            leading_dimension: a.first().leading_dimension(),
            stride: a.stride(),
        },
        v: Lines {
            elements: v,
            leading_dimension: elements_apart(b.first()),
            stride: b.stride(),
        },
        k,
    };
    let shape = work.shape(m, &operands, c.view());
    // SAFETY: the work fits the kernel: the shapes were compared, the kernel was selected by the layout of the
    // lines, the grid and the lanes are those of `work`, and the launch accesses only elements of C. No work
    // conflicts: the matrices are borrowed until this returns, C mutably.
    unsafe {
        work.launch(
            T::VECTORS.of(kernel),
            operands,
            (c, epilogue),
            shape,
            products,
        )
    }
}

/// C = the sum of `parts` matrices of its shape, one below the other, in place of the product of A and B.
pub fn add_up<T: Computes<T, Accumulator = T> + Accumulator>(
    sums: &Matrix<T>,
    parts: usize,
    matrices: Matrices<'_, T, T, T>,
) -> Outcome<()> {
    let (m, n, _) = matrices.extents();
    let Matrices { c, epilogue, .. } = matrices;
    let lines = m * n;
    let work = Work::new(VectorLines::Across, (lines, parts), size_of::<T>(), 1);
    let operands = LinesAndVector {
        x: Lines {
            // SAFETY: the launch reads only elements of the matrix, as the kernels document.
            elements: unsafe { read_elements(sums.into()) },
            leading_dimension: lines,
            stride: 0,
        },
        v: Lines::none(),
        k: parts,
    };
    let shape = VectorShape {
        columns: n,
        y_apart: c.view().first().leading_dimension(),
        y_stride: 0,
        ..work.shape(lines, &operands, c.view())
    };
    let kernel = kernel_that_adds(T::TYPES.0);
    // SAFETY: the work fits the kernel: the sums have the elements of all lines, with neighbouring lines side by
    // side, C is row-major, the grid is that of `work`, and the launch accesses only elements of C. No work
    // conflicts: C is borrowed mutably until this returns, and the sums are borrowed.
    unsafe { work.launch(T::VECTORS.of(kernel), operands, (c, epilogue), shape, 1) }
}

/// The kernel that adds lines whose neighbours' elements are contiguous.
fn kernel_that_adds(element: ElementType) -> &'static GemmKernel {
    let across = Method::Vector(VectorLines::Across);
    kernels_of(across, element, element)
        .first()
        .expect("every type has one")
}

/// The operands of a launch.
pub struct LinesAndVector<'a, R> {
    pub x: Lines<'a, R>,
    /// The vector; its leading dimension is the distance from one element to the next.
    pub v: Lines<'a, R>,
    /// Elements of a line, as the kernel counts them.
    pub k: usize,
}

impl Work {
    /// The kernel shape of the work, whose results are the columns of `c`.
    pub fn shape<R, O: Typed>(
        &self,
        lines: usize,
        LinesAndVector { x, v, k }: &LinesAndVector<'_, R>,
        c: MatrixBatch<'_, O>,
    ) -> VectorShape {
        VectorShape {
            lines,
            k: *k,
            x_apart: x.leading_dimension,
            v_apart: v.leading_dimension,
            columns: 1,
            y_apart: elements_apart(c.first()),
            x_stride: x.stride,
            v_stride: v.stride,
            y_stride: c.stride(),
            lanes: self.lanes,
            parts_of_group: self.parts_of_group,
            lines_of_group: self.lines_of_group,
        }
    }

    /// Launches a kernel for `products`, whose results are in `c`.
    ///
    /// # Safety
    /// 1. The lines, the shape and the grid of this work meet the kernel's requirements, and the launch accesses
    ///    only elements of `c`.
    /// 2. The views meet requirement 2 of [`ProductLaunch`](crate::matmul::entry::ProductLaunch).
    pub unsafe fn launch<R: Typed, O: Typed, S: Accumulator, P: Typed>(
        &self,
        Launcher { module, launch }: Launcher<VectorLaunch<R, O, S, P>>,
        LinesAndVector { x, v, .. }: LinesAndVector<'_, R>,
        (c, epilogue): (MatrixBatchMut<'_, O>, Epilogue<'_, S>),
        shape: VectorShape,
        products: usize,
    ) -> Outcome<()> {
        let VectorShape { lines, k, .. } = shape;
        let blocks = grid_x(self.blocks, || {
            format!("a grid of {} blocks for {lines} sums of {k}", self.blocks)
        })?;
        let config = LaunchConfig::new((blocks, products as u32), VECTOR_THREADS);
        let device = c.view().first().device().clone();
        let module = Module::on_demand(&device, module);
        let mut partials = Buffer::<P>::uninit(&device, products * self.partials)?;
        let mut tickets = Counters::lock(&device, products * self.tickets)?;
        let arguments = VectorArguments {
            x: x.elements,
            v: v.elements,
            // SAFETY: the launch accesses only elements of `c`: the caller's contract.
            y: unsafe { written_by_product(c) },
            shape,
            epilogue: epilogue.arguments(Stores::Plain),
            partials: global_mut(partials.view_mut()),
            tickets: tickets.words(),
        };
        // SAFETY: the launch meets the kernel's requirements: the caller's contract, and there are as many partial
        // results and tickets as the work has; the tickets are 0. The views are live without conflicting work: the
        // caller's contract, and the memory of the partial results is freed after the launch, in the device's
        // order.
        let launched = unsafe { launch(&module, config, arguments) };
        tickets.after(launched)
    }
}

/// The distance from one element of a matrix of one column to the next, in elements.
pub fn elements_apart<T: Typed>(column: MatrixView<'_, T>) -> usize {
    match column.order() {
        Order::RowMajor => column.leading_dimension(),
        Order::ColumnMajor => 1,
    }
}

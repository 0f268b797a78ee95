//! Products with a vector, y = X v, and sums of X's rows.

use super::warpgroup::elements_apart;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Outcome;
use crate::launch_args::{global_mut, read_elements, written_by_product};
use crate::matmul::entry::{VectorArguments, VectorLaunch};
use crate::matmul::epilogue::Epilogue;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::launchers::{Kernels, Launcher};
use crate::matmul::operands::Matrices;
use crate::matmul::plan::{Grid, Plan, Store, VectorWork};
use crate::matmul::staging::{LinesToRead, StagedOperand};
use crate::matmul::types::{EpilogueScalar, Operand, Typed};
use crate::matrix::{Matrix, MatrixBatch, MatrixBatchMut, Order};
use crate::module::Module;
use crate::workspace::Counters;
use tilewright_kernels::matvec::{LOAD_BYTES, VectorShape};

/// C = A B, where B is a vector, by a kernel that reads elements.
pub fn multiply<T: Kernels<O, S>, O: Typed, S: EpilogueScalar>(
    plan: &Plan,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    multiply_in(plan, T::VECTORS.of(plan.kernel), matrices)
}

/// C = A B of 8-bit elements, where B is a vector, by a kernel that reads words of four.
pub fn multiply_words<T: Kernels<O, S>, O: Typed, S: EpilogueScalar>(
    plan: &Plan,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    multiply_in(plan, T::VECTORS_OF_WORDS.of(plan.kernel), matrices)
}

/// C = A B, where B is a vector, by a kernel that reads operands of `T` as elements `R`.
fn multiply_in<T: Operand, R: Typed, O: Typed, S: EpilogueScalar>(
    plan: &Plan,
    launcher: Launcher<VectorLaunch<R, O, S, T::Sum>>,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    let work = (plan.steps.vector_work()).expect("the plan is of a product with a vector");
    let [a_staging, b_staging] = plan.staging;
    let device = matrices.operands.a.first().device();
    matrices.for_each_grid(|part| {
        let (products, (m, _, k)) = (part.count(), part.extents());
        let Matrices {
            operands,
            c,
            epilogue,
        } = part;
        let c = c.view_mut();
        let x = StagedOperand::new(operands.a, a_staging, Order::RowMajor)?;
        let v = StagedOperand::new(operands.b, b_staging, Order::ColumnMajor)?;
        // SAFETY: the launch reads only the elements of X and v, as the kernels document.
        let (x, v): (LinesToRead<'_, R>, LinesToRead<'_, R>) = unsafe { (x.read(), v.read()) };
        let of_word = size_of::<R>() / size_of::<T>();
        let operands = MatrixAndVector {
            x,
            v: LinesToRead {
                // Words are contiguous.
                leading_dimension: match of_word {
                    1 => elements_apart(operands.b.first(), Order::RowMajor),
                    _ => 1,
                },
                ..v
            },
            k: match of_word {
                1 => k,
                // Rows of 8-bit elements are whole vectors of 16 bytes, padded with zeros.
                _ => k.next_multiple_of(LOAD_BYTES) / of_word,
            },
        };
        let launch = Launch {
            device,
            launcher,
            work,
            grid: plan.grid,
            shape: shape_of(work, m, &operands, c.view()),
            products,
        };
        // SAFETY: the work fits the kernel: the shapes were compared, the kernel was selected by the layout of X,
        // the grid and the lanes are those of the plan, words come from whole vectors of 16 bytes, and the
        // launch accesses only elements of C. No work conflicts: the matrices are borrowed until this returns, C
        // mutably, and copies are freed by work that comes later.
        unsafe { launch.submit(operands, (c, epilogue)) }
    })
}

/// C = the sum of `parts` matrices of its shape, one below the other, in place of the product of A and B. The sums
/// are those of columns, by this kernel, and each column has the parts of an output.
pub fn add_up<T: EpilogueScalar + Operand<Sum = T> + Kernels<T, T>>(
    (kernel, work): (&'static GemmKernel, &VectorWork),
    (sums, parts): (&Matrix<T>, usize),
    matrices: Matrices<'_, T, T, T>,
) -> Outcome<()> {
    let (m, n, _) = matrices.extents();
    let device = matrices.operands.a.first().device();
    let Matrices { c, epilogue, .. } = matrices;
    let rows = m * n;
    let operands = MatrixAndVector {
        x: LinesToRead {
            // SAFETY: the launch reads only elements of the matrix, as the kernels document.
            elements: unsafe { read_elements(sums.into()) },
            leading_dimension: rows,
            stride: 0,
        },
        v: LinesToRead::none(),
        k: parts,
    };
    let launch = Launch {
        device,
        launcher: T::VECTORS.of(kernel),
        work,
        grid: Grid::of_vector(work),
        shape: VectorShape {
            y_columns: n,
            y_apart: c.view().first().leading_dimension(),
            y_stride: 0,
            ..shape_of(work, rows, &operands, c.view())
        },
        products: 1,
    };
    // SAFETY: the work fits the kernel: the sums have the elements of X, which is column-major, C is row-major, the
    // grid is that of `work`, and the launch accesses only elements of C. No work conflicts: C is borrowed mutably
    // until this returns, and the sums are borrowed.
    unsafe { launch.submit(operands, (c, &epilogue)) }
}

/// The operands X and v of a launch.
struct MatrixAndVector<'a, R> {
    x: LinesToRead<'a, R>,
    /// The vector; its leading dimension is the distance from one element to the next.
    v: LinesToRead<'a, R>,
    /// Elements of a row, as the kernel counts them.
    k: usize,
}

/// The kernel shape of the work, whose results are the columns of `c`.
fn shape_of<R, O: Typed>(
    work: &VectorWork,
    rows: usize,
    MatrixAndVector { x, v, k }: &MatrixAndVector<'_, R>,
    c: MatrixBatch<'_, O>,
) -> VectorShape {
    VectorShape {
        rows,
        k: *k,
        x_apart: x.leading_dimension,
        v_apart: v.leading_dimension,
        y_columns: 1,
        y_apart: elements_apart(c.first(), Order::RowMajor),
        x_stride: x.stride,
        v_stride: v.stride,
        y_stride: c.stride(),
        lanes: work.lanes,
        parts_of_group: work.parts_of_group,
        rows_of_group: work.rows_of_group,
    }
}

/// A launch of a kernel for products with a vector.
struct Launch<'a, R, O, S, P> {
    device: &'a Device,
    launcher: Launcher<VectorLaunch<R, O, S, P>>,
    work: &'a VectorWork,
    grid: Grid,
    shape: VectorShape,
    products: usize,
}

impl<R: Typed, O: Typed, S: EpilogueScalar, P: Typed> Launch<'_, R, O, S, P> {
    /// Launches the kernel, which writes to `c`.
    ///
    /// # Safety
    /// 1. The operands, the shape, the work and the grid meet the kernel's requirements, and the launch accesses only
    ///    elements of `c`.
    /// 2. The views meet requirement 2 of [`ProductLaunch`](crate::matmul::entry::ProductLaunch).
    unsafe fn submit(
        self,
        MatrixAndVector { x, v, .. }: MatrixAndVector<'_, R>,
        (c, epilogue): (MatrixBatchMut<'_, O>, &Epilogue<'_, S>),
    ) -> Outcome<()> {
        let Self {
            device,
            launcher,
            work,
            grid,
            shape,
            products,
        } = self;
        let VectorShape { rows, k, .. } = shape;
        let what = || format!("a grid of {} blocks for {rows} sums of {k}", work.blocks);
        let config = grid.config(products, what)?;
        let Launcher { module, launch } = launcher;
        let module = Module::on_demand(device, module);
        let mut partials = Buffer::<P>::uninit(device, products * work.partials)?;
        let mut tickets = Counters::lock(device, products * work.tickets)?;
        let arguments = VectorArguments {
            x: x.elements,
            v: v.elements,
            // SAFETY: the launch accesses only elements of `c`: the caller's contract.
            y: unsafe { written_by_product(c) },
            shape,
            epilogue: epilogue.arguments(Store::Own),
            partials: global_mut(partials.view_mut()),
            tickets: tickets.words(),
        };
        // SAFETY: the launch meets the kernel's requirements: the caller's contract, and there are as many partial
        // results and tickets as the work has; the tickets are 0. The views are live without conflicting work: the
        // caller's contract, and the memory of the partial results is freed after the launch, in the device's
        // order.
        let launched = unsafe { launch(module, config, arguments) };
        tickets.after(launched)
    }
}

//! Products in which a block computes each tile of C: on CUDA cores, and at warp level on tensor cores.

use crate::error::Outcome;
use crate::launch_args::written_by_product;
use crate::matmul::entry::{ProductArguments, ProductLaunch};
use crate::matmul::launchers::{Kernels, Launcher};
use crate::matmul::operands::Matrices;
use crate::matmul::plan::Plan;
use crate::matmul::staging::{LinesToRead, StagedOperand};
use crate::matmul::types::{EpilogueScalar, Typed};
use crate::matrix::Order;
use crate::module::Module;
use tilewright_kernels::matmul::ProductShape;

/// C = A B by a kernel that reads elements.
pub fn multiply<T: Kernels<O, S>, O: Typed, S: EpilogueScalar>(
    plan: &Plan,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    multiply_in(plan, T::PRODUCTS.of(plan.kernel), matrices)
}

/// C = A B of i8 on CUDA cores, by a kernel that reads words of four neighbours along k.
#[inline]
pub fn multiply_words(plan: &Plan, matrices: Matrices<'_, i8, i32, i32>) -> Outcome<()> {
    multiply_in(plan, i8::PRODUCTS_OF_WORDS.of(plan.kernel), matrices)
}

/// C = A B by a kernel that reads operands of `T` as elements `R`.
fn multiply_in<T: Typed, R: Typed, O: Typed, S: EpilogueScalar>(
    plan: &Plan,
    Launcher { module, launch }: Launcher<ProductLaunch<R, O, S>>,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    let module = Module::on_demand(matrices.operands.a.first().device(), module);
    matrices.for_each_grid(|part| {
        let (m, n, _) = part.extents();
        let config = plan.grid.of_results(part.count(), (m, n))?;
        let [a, b] = [part.operands.a, part.operands.b];
        let [a_staging, b_staging] = plan.staging;
        let staged_a = StagedOperand::new(a, a_staging, Order::RowMajor)?;
        let staged_b = StagedOperand::new(b, b_staging, Order::ColumnMajor)?;
        // SAFETY: the launch reads only the elements of the lines, as the kernels document.
        let lines: [LinesToRead<'_, R>; 2] = unsafe { [staged_a.read(), staged_b.read()] };
        // 8-bit elements lie along K.
        let is_along = |order, along_k| size_of::<T>() == 1 || order == along_k;
        let starts = [
            Starts {
                leading_dimension: lines[0].leading_dimension,
                stride: lines[0].stride,
                is_along: is_along(a.first().order(), Order::RowMajor),
            },
            Starts {
                leading_dimension: lines[1].leading_dimension,
                stride: lines[1].stride,
                is_along: is_along(b.first().order(), Order::ColumnMajor),
            },
        ];
        let shape = shape_of(part, size_of::<R>() / size_of::<T>(), starts);
        let [a, b] = lines;
        let arguments = ProductArguments {
            a: a.elements,
            b: b.elements,
            // SAFETY: the launch accesses only the elements of C, as the kernels document.
            c: unsafe { written_by_product(part.c.view_mut()) },
            shape,
            epilogue: part.epilogue.arguments(plan.store),
        };
        // SAFETY: the launch meets the kernels' requirements. Block and grid are the tile's for m x n and the
        // batch. The shapes were compared, and the lines reach to the last of the operands. They start where the
        // kernel needs it, and are in the orders by which it was selected, or that it needs: the plan's staging.
        // The views are live without conflicting work: A, B and C are of this device, are borrowed until this
        // returns, C mutably, and nothing else is touched; a copy is freed by work that comes later.
        unsafe { launch(module, config, arguments) }
    })
}

/// The distances in an operand, from line to line and from matrix to matrix.
pub struct Starts {
    pub leading_dimension: usize,
    pub stride: usize,
    /// Whether lines lie along k.
    pub is_along: bool,
}

/// The shape of products, for a kernel that reads words of `of_word` elements along k.
pub fn shape_of<T: Typed, O: Typed, S: EpilogueScalar>(
    matrices: &Matrices<'_, T, O, S>,
    of_word: usize,
    [a, b]: [Starts; 2],
) -> ProductShape {
    let (m, n, k) = matrices.extents();
    let c = matrices.c.view();
    let part = matrices.operands.part.map(|part| part.div_ceil(of_word));
    let stride = |of: &Starts| match part {
        None => of.stride,
        Some(part) if of.is_along => part,
        Some(part) => part * of.leading_dimension,
    };
    ProductShape {
        m,
        n,
        k: k.div_ceil(of_word),
        lda: a.leading_dimension,
        ldb: b.leading_dimension,
        ldc: c.first().leading_dimension(),
        a_stride: stride(&a),
        b_stride: stride(&b),
        c_stride: c.stride(),
        is_lower: usize::from(matrices.operands.is_gram),
        part: part.unwrap_or(0),
    }
}

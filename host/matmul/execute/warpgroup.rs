//! Products of f16, bf16, i8 and 8-bit floats, by warpgroups on tensor cores.

use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::launch::LaunchConfig;
use crate::launch_args::written_by_product;
use crate::matmul::block_scales::BlockScales;
use crate::matmul::entry::{ScaledArguments, TensorArguments};
use crate::matmul::epilogue::vector;
use crate::matmul::launchers::{Kernels, Launcher};
use crate::matmul::operands::Matrices;
use crate::matmul::plan::{Plan, Store};
use crate::matmul::staging::{NO_MAP, StagedOperand, map_of};
use crate::matmul::types::{EpilogueScalar, Typed};
use crate::matrix::{MatrixBatch, MatrixView, Order};
use crate::module::Module;
use tilewright_kernels::tensor::{ClusterTile, TensorShape};

/// Rows of a box in the map of C, whose transpose has boxes of a tile's columns.
const C_BOX_ROWS: usize = 64;

/// C = A B of f16 or bf16, in their type or in f32, of i8, in i32, f32, f16 or bf16, and of 8-bit floats, in bf16
/// or f32.
pub fn multiply<T: Kernels<O, S>, O: Typed, S: EpilogueScalar>(
    plan: &Plan,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    let Launcher { module, launch } = T::CLUSTERS.of(plan.kernel);
    with_arguments(plan, matrices, |device, config, arguments| {
        let module = Module::on_demand(device, module);
        // SAFETY: the launch meets the kernels' requirements, as `with_arguments` guarantees.
        unsafe { launch(module, config, arguments) }
    })
}

/// [`multiply`] with block scales, or with rows that are counted on the device.
pub fn multiply_scaled<T: Kernels<O, S>, O: Typed, S: EpilogueScalar>(
    plan: &Plan,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    let Launcher { module, launch } = T::SCALED.of(plan.kernel);
    let counts = vector(matrices.operands.counts);
    let scales = BlockScales::arguments(matrices.operands.scales);
    with_arguments(plan, matrices, |device, config, tensor| {
        let module = Module::on_demand(device, module);
        let arguments = ScaledArguments {
            tensor,
            counts,
            scales,
        };
        // SAFETY: the launch meets the kernels' requirements, as `with_arguments` guarantees. The counts are one for
        // each matrix of the batch, and the scales one for each block: both were compared with the operands. They are
        // borrowed until this returns.
        unsafe { launch(module, config, arguments) }
    })
}

/// Calls `launch` with the device, the blocks, and arguments that meet the requirements of the plan's kernel.
fn with_arguments<T: Kernels<O, S>, O: Typed, S: EpilogueScalar>(
    plan: &Plan,
    matrices: Matrices<'_, T, O, S>,
    launch: impl FnOnce(&Device, LaunchConfig, TensorArguments<'_, O, S>) -> Outcome<()>,
) -> Outcome<()> {
    let (m, n, k) = matrices.extents();
    let count = matrices.products();
    let tile = plan.kernel.cluster_tile();
    let shape = tensor_shape(&matrices, tile, (m, n, k), count);
    let Matrices {
        ref operands,
        c,
        ref epilogue,
    } = matrices;
    let device = operands.a.first().device();
    let config = plan.grid.of_results(count, (m, n))?;
    let [a_staging, b_staging] = plan.staging;
    let a = StagedOperand::new(operands.a, a_staging, Order::RowMajor)?;
    let b = StagedOperand::new(operands.b, b_staging, Order::ColumnMajor)?;
    // A block loads `outputs` lines at a time, if they lie along K.
    let box_rows = |batch: MatrixBatch<'_, T>, along_k, outputs| match batch.first().order() {
        order if order == along_k || size_of::<T>() == 1 => outputs,
        _ => tile.depth,
    };
    let a_map = a.map(box_rows(operands.a, Order::RowMajor, tile.rows))?;
    let b_map = b.map(box_rows(operands.b, Order::ColumnMajor, tile.part()))?;
    let c_map = match plan.store {
        Store::Bulk if plan.is_transposed => map_of(c.view().t(), tile.columns)?,
        Store::Bulk => map_of(c.view(), C_BOX_ROWS)?,
        Store::Own | Store::Single => NO_MAP,
    };
    let arguments = TensorArguments {
        a: a_map,
        b: b_map,
        c_map,
        // SAFETY: the launch accesses only the elements of C, as the kernels document.
        c: unsafe { written_by_product(c) },
        shape,
        epilogue: epilogue.arguments(plan.store),
    };
    // The launch meets the kernels' requirements. The maps are those of the matrices, by whose orders the kernel was
    // selected; without products to add the operands' maps are not used, and without a plain epilogue that of C is
    // not. The grid is the plan's. The views are live without conflicting work: A, B and C are borrowed until this
    // returns, C mutably, and a copy is freed by work that comes later.
    launch(device, config, arguments)
}

/// The kernels' parameter for `count` products of `m` x `k` and `k` x `n` elements in tiles of `tile`.
pub(super) fn tensor_shape<T: Element, O: Typed, S: EpilogueScalar>(
    Matrices { operands, c, .. }: &Matrices<'_, T, O, S>,
    tile: &ClusterTile,
    (m, n, k): (usize, usize, usize),
    count: usize,
) -> TensorShape {
    let result = c.view().first();
    TensorShape {
        m: m as u32,
        n: n as u32,
        k: k as u32,
        matrices: count as u32,
        tiles: tile.tiles((m, n), operands.is_gram) as u32,
        is_lower: u32::from(operands.is_gram),
        a_step: u32::from(operands.a.count().is_some()),
        b_step: u32::from(operands.b.count().is_some()),
        ldc: elements_apart(result, Order::RowMajor),
        // A result of groups of rows is one matrix.
        c_stride: c.view().count().map_or(0, |_| c.view().stride()),
        c_columns_apart: elements_apart(result, Order::ColumnMajor),
        part: operands.part.unwrap_or(0),
    }
}

/// The distance from each row (or column) of a matrix to the next, in elements. The outputs of skinny products lie
/// in either order.
pub(super) fn elements_apart<T: Typed>(matrix: MatrixView<'_, T>, lines: Order) -> usize {
    match matrix.order() == lines {
        true => matrix.leading_dimension(),
        false => 1,
    }
}

//! Products of f16, bf16, i8 and 8-bit floats, by warpgroups on tensor cores.

use super::lines::{AlignedLines, is_aligned, map_of};
use super::persistent::{grid_of_blocks, persistent_grid};
use crate::element::Element;
use crate::error::Outcome;
use crate::launch_args::written_by_product;
use crate::matmul::element::sealed::TensorOutput;
use crate::matmul::entry::{MapWords, TensorArguments};
use crate::matmul::epilogue::Stores;
use crate::matmul::kernel::{GemmKernel, Method};
use crate::matmul::launchers::Launcher;
use crate::matmul::matrices::Matrices;
use crate::matmul::problem::FewLines;
use crate::matmul::types::sealed::Computes;
use crate::matrix::{MatrixBatch, Order};
use crate::module::Module;
use half::f16;
use tilewright_kernels::tensor::TensorShape;

/// Rows of a box in the map of C.
const C_BOX_ROWS: usize = 64;

/// The map of a matrix that no block copies from or to.
const NO_MAP: MapWords = [0; 16];

/// C = A B of f16 or bf16, in their type or in f32, of i8, in i32, f32, f16 or bf16, and of 8-bit floats, in bf16
/// or f32.
pub fn multiply<T: Computes<O, O::Sum>, O: TensorOutput>(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, O, O::Sum>,
) -> Outcome<()> {
    let (element, output) = <T as Computes<O, O::Sum>>::TYPES;
    let is_skinny = matches!(kernel.method, Method::Skinny(_));
    let matrices = match matrices.problem(element, output).few_lines() {
        FewLines::Rows if is_skinny => matrices.transposed(),
        _ => matrices,
    };
    let Launcher { module, launch } = T::CLUSTERS.of(kernel);
    let ((m, n, k), count) = (matrices.extents(), matrices.count());
    let [a_step, b_step] = [matrices.a, matrices.b].map(|it| u32::from(it.count().is_some()));
    let Matrices {
        a,
        b,
        c,
        epilogue,
        is_gram,
        part,
        ..
    } = matrices;
    let tile = kernel.cluster_tile();
    let tiles = tile.tiles((m, n), is_gram);
    let a = Operand::new(a, k, Order::RowMajor, (tile.rows, tile.depth))?;
    let b = Operand::new(b, k, Order::ColumnMajor, (tile.part(), tile.depth))?;
    let result = c.view().first();
    // Outputs of skinny products lie in either order.
    let (ldc, c_columns_apart) = match result.order() {
        Order::RowMajor => (result.leading_dimension(), 1),
        Order::ColumnMajor => (1, result.leading_dimension()),
    };
    // Bulk copies write f16 or bf16 to rows that start at multiples of 16 bytes.
    let has_map = !is_skinny
        && epilogue.is_identity()
        && size_of::<O>() == size_of::<f16>()
        && is_aligned(c.view());
    let c_map = match has_map {
        true => map_of(c.view(), C_BOX_ROWS)?,
        false => NO_MAP,
    };
    let stores = match has_map || is_skinny {
        true => Stores::Plain,
        false => Stores::Single,
    };
    let shape = TensorShape {
        m: m as u32,
        n: n as u32,
        k: k as u32,
        matrices: count as u32,
        tiles: tiles as u32,
        is_lower: u32::from(is_gram),
        a_step,
        b_step,
        ldc,
        c_stride: c.view().stride(),
        c_columns_apart,
        part: part.unwrap_or(0),
    };
    let device = c.view().first().device();
    let all = tiles.saturating_mul(count);
    let config = match kernel.method {
        Method::Single => grid_of_blocks(tile, all),
        _ => persistent_grid(device, tile, all),
    };
    let module = Module::on_demand(device, module);
    let (a, b) = (a.map()?, b.map()?);
    let arguments = TensorArguments {
        a,
        b,
        c_map,
        // SAFETY: the launch accesses only the elements of C, as the kernels document.
        c: unsafe { written_by_product(c) },
        shape,
        epilogue: epilogue.arguments(stores),
    };
    // SAFETY: the launch meets the kernels' requirements. The maps are those of the matrices, by whose orders the
    // kernel was selected; without products to add the operands' maps are not used, and without a plain epilogue
    // that of C is not. The grid is that of `persistent_grid` or `grid_of_blocks`. The views are live without
    // conflicting work: A, B and C are borrowed until this returns, C mutably, and a copy is freed by work that
    // comes later.
    unsafe { launch(&module, config, arguments) }
}

/// An operand, and the number of its lines that a block loads at a time.
struct Operand<'a, T: Element> {
    /// `None` if nothing is read.
    lines: Option<AlignedLines<'a, T>>,
    box_rows: usize,
}

impl<'a, T: Element> Operand<'a, T> {
    /// An operand whose lines are, in the order `along_k`, rows of A or columns of B. A block loads `outputs` of
    /// them at a time, `depth` elements of each. 8-bit elements are brought into that order.
    fn new(
        batch: MatrixBatch<'a, T>,
        k: usize,
        along_k: Order,
        (outputs, depth): (usize, usize),
    ) -> Outcome<Self> {
        let (box_rows, is_read) = (outputs, k != 0);
        if size_of::<T>() == 1 {
            let lines = is_read.then(|| AlignedLines::along(batch, along_k, 1));
            let lines = lines.transpose()?;
            return Ok(Self { lines, box_rows });
        }
        let lines = is_read.then(|| AlignedLines::of(batch)).transpose()?;
        let box_rows = match batch.first().order() == along_k {
            true => outputs,
            false => depth,
        };
        Ok(Self { lines, box_rows })
    }

    fn map(&self) -> Outcome<MapWords> {
        match &self.lines {
            Some(lines) => lines.map(self.box_rows),
            None => Ok(NO_MAP),
        }
    }
}

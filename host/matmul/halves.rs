//! Products of f16 and bf16 matrices, on tensor cores.

use super::epilogue::Stores;
use super::kernels::sealed::HalfOutput;
use super::kernels::{GemmKernel, HalfArguments, MapWords, Method, TileConfig};
use super::lines::{AlignedLines, is_aligned, map_of};
use super::matrices::Matrices;
use super::operands::written_by_product;
use super::persistent::persistent_grid;
use crate::element::Element;
use crate::error::Outcome;
use crate::matrix::{MatrixBatch, Order};
use crate::module::Module;
use tilewright_kernels::tensor::{ClusterTile, DEPTH, HALF_LARGE, HALF_SMALL, TensorShape};

/// Rows of C of a box of its map.
const C_BOX_ROWS: usize = 64;

/// The map of a matrix that no block copies from or to.
const NO_MAP: MapWords = [0; 16];

/// The tile of a kernel's cluster.
fn tile_of(kernel: &GemmKernel) -> &'static ClusterTile {
    match kernel.method {
        Method::Wgmma(TileConfig::Small) => &HALF_SMALL,
        _ => &HALF_LARGE,
    }
}

/// C = A B of halves, in halves or in f32.
pub fn multiply<T: Element, O: HalfOutput>(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, O, f32>,
) -> Outcome<()> {
    let launch = O::launch_of(kernel.entry).expect("the kernel was selected for the outputs");
    let ((m, n, k), count) = (matrices.extents(), matrices.count());
    let [a_step, b_step] = [matrices.a, matrices.b].map(|it| u32::from(it.count().is_some()));
    let Matrices {
        a, b, c, epilogue, ..
    } = matrices;
    let tile = tile_of(kernel);
    let a = Operand::new(a, k, Order::RowMajor, tile.rows)?;
    let b = Operand::new(b, k, Order::ColumnMajor, tile.columns / tile.blocks)?;
    // Bulk copies write halves to rows that start at multiples of 16 bytes.
    let has_map =
        epilogue.is_identity() && size_of::<O>() == size_of::<T>() && is_aligned(c.view());
    let (c_map, stores) = match has_map {
        true => (map_of(c.view(), C_BOX_ROWS)?, Stores::Plain),
        false => (NO_MAP, Stores::Single),
    };
    let shape = TensorShape {
        m: m as u32,
        n: n as u32,
        k: k as u32,
        matrices: count as u32,
        a_step,
        b_step,
        ldc: c.view().first().leading_dimension(),
        c_stride: c.view().stride(),
    };
    let device = c.view().first().device();
    let config = persistent_grid(device, tile, (m, n), count);
    let module = Module::on_demand(device, kernel.module);
    let (a, b) = (a.map()?, b.map()?);
    let arguments = HalfArguments {
        a,
        b,
        c_map,
        // SAFETY: (1) by (1) of the kernels.
        c: unsafe { written_by_product(c) },
        shape,
        epilogue: epilogue.arguments(stores),
    };
    // SAFETY: (1) is (1) and (2) of the kernels: (1) the maps are those of the matrices, by whose orders
    // the kernel was selected; without products to add, and without a plain epilogue, there are none to
    // copy by. (2) `persistent_grid`. (2) A, B and C are borrowed until this returns, C mutably; a copy
    // is freed by work that comes later.
    unsafe { launch(&module, config, arguments) }
}

/// An operand, and how many of its lines a block brings at a time.
struct Operand<'a, T: Element> {
    /// `None` where nothing is read.
    lines: Option<AlignedLines<'a, T>>,
    box_rows: usize,
}

impl<'a, T: Element> Operand<'a, T> {
    /// In the order `along_k` the lines are rows of A or columns of B, of which a block brings
    /// `outputs` at a time.
    fn new(batch: MatrixBatch<'a, T>, k: usize, along_k: Order, outputs: usize) -> Outcome<Self> {
        let box_rows = match batch.first().order() == along_k {
            true => outputs,
            false => DEPTH,
        };
        let lines = match k {
            0 => None,
            _ => Some(AlignedLines::of(batch)?),
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

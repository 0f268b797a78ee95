//! Products of i8 matrices on the ordinary units, which multiply words of four neighbours along k.

use super::lines::{AlignedLines, Operand, WORD};
use crate::error::Outcome;
use crate::launch_args::written_by_product;
use crate::matmul::entry::{ChainArguments, ChainLaunch};
use crate::matmul::epilogue::Stores;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::matrices::Matrices;
use crate::matrix::Order;
use crate::module::Module;

/// C = A B of i8, in i32.
pub fn multiply(kernel: &'static GemmKernel, matrices: Matrices<'_, i8, i32, i32>) -> Outcome<()> {
    let launch: ChainLaunch<i32> = kernel.entry.launch();
    let device = matrices.c.view().first().device().clone();
    let module = Module::on_demand(&device, kernel.module);
    matrices.for_each_grid(|part| {
        let config = part.grid(kernel)?;
        let (_, _, k) = part.extents();
        let (a, b) = (
            Operand::new(part.a, k, |it| {
                AlignedLines::along(it, Order::RowMajor, WORD)
            })?,
            Operand::new(part.b, k, |it| {
                AlignedLines::along(it, Order::ColumnMajor, WORD)
            })?,
        );
        // SAFETY: (1) by (2) of the kernels.
        let (a, b) = unsafe { (a.words(), b.words()) };
        let starts = [
            (a.leading_dimension, a.stride),
            (b.leading_dimension, b.stride),
        ];
        let shape = part.shape(k.div_ceil(WORD), starts);
        let arguments = ChainArguments {
            a: a.elements,
            b: b.elements,
            // SAFETY: (1) by (2) of the kernels.
            c: unsafe { written_by_product(part.c) },
            shape,
            epilogue: part.epilogue.arguments(Stores::Plain),
        };
        // SAFETY: (1) of `ProductLaunch` is (1) to (3) of the kernels: (1) block and grid are the tile's for
        // m x n and the batch. (2) The shapes were compared, and the words reach to the last of the
        // operands. (3) `AlignedLines::along`. (2) A, B and C are of this device, are borrowed until this
        // returns, C mutably, and nothing else is touched; a copy is freed by work that comes later.
        unsafe { launch(&module, config, arguments) }
    })
}

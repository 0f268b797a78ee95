//! Products of f16, bf16 and i8 matrices by warps, on the tensor cores of compute capability 8.0 and later.

use super::lines::{AlignedLines, Operand};
use crate::element::Element;
use crate::error::Outcome;
use crate::launch_args::written_by_product;
use crate::matmul::entry::{ProductArguments, ProductLaunch};
use crate::matmul::epilogue::Stores;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::matrices::Matrices;
use crate::matmul::types::Accumulator;
use crate::matrix::{MatrixBatch, Order};
use crate::module::Module;

/// C = A B of halves, in halves or in f32, and of i8, in i32, f32, f16 or bf16.
pub fn multiply<T: Element, O: Element, S: Accumulator>(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    let launch: ProductLaunch<T, O, S> = kernel.entry.launch();
    let device = matrices.c.view().first().device().clone();
    let module = Module::on_demand(&device, kernel.module);
    matrices.for_each_grid(|part| {
        let config = part.grid(kernel)?;
        let (_, _, k) = part.extents();
        let a = Operand::new(part.a, k, |it| lines_of(it, Order::RowMajor))?;
        let b = Operand::new(part.b, k, |it| lines_of(it, Order::ColumnMajor))?;
        // SAFETY: (1) by (2) of the kernels.
        let (a, b) = unsafe { (a.elements(), b.elements()) };
        let starts = [
            (a.leading_dimension, a.stride),
            (b.leading_dimension, b.stride),
        ];
        let shape = part.shape(k, starts);
        let arguments = ProductArguments {
            a: a.elements,
            b: b.elements,
            // SAFETY: (1) by (2) of the kernels.
            c: unsafe { written_by_product(part.c) },
            shape,
            epilogue: part.epilogue.arguments(Stores::Single),
        };
        // SAFETY: (1) of `ProductLaunch` is (1) to (3) of the kernels: (1) block and grid are the tile's for
        // m x n and the batch. (2) The shapes were compared, and the lines reach to the last of the operands.
        // (3) The kernel was selected by the operands' orders, of which `lines_of` keeps those of halves; their
        // lines are aligned. (2) A, B and C are of this device, are borrowed until this returns, C mutably, and
        // nothing else is touched; a copy is freed by work that comes later.
        unsafe { launch(&module, config, arguments) }
    })
}

/// Lines that start at multiples of 16 bytes, those of 8-bit elements in the order `along_k`.
fn lines_of<T: Element>(batch: MatrixBatch<'_, T>, along_k: Order) -> Outcome<AlignedLines<'_, T>> {
    match size_of::<T>() {
        1 => AlignedLines::along(batch, along_k, 1),
        _ => AlignedLines::of(batch),
    }
}

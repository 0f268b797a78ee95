//! Products of f16, bf16 and i8 matrices by warps, on the tensor cores of compute capability 8.0 and later.

use super::element::sealed::MmaInto;
use super::entry::ProductArguments;
use super::epilogue::Stores;
use super::fastest::Accumulate;
use super::kernel::GemmKernel;
use super::lines::{AlignedLines, Operand};
use super::matrices::Matrices;
use super::operands::written_by_product;
use crate::element::Element;
use crate::error::Outcome;
use crate::matrix::{MatrixBatch, Order};
use crate::module::Module;
use tilewright_kernels::matmul::ProductShape;

/// C = A B of halves, in halves or in f32, and of i8, in i32.
pub fn multiply<T: MmaInto<O>, O: Element>(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, O, <T as Accumulate>::Accumulator>,
) -> Outcome<()> {
    let launch = T::launch_of(kernel.entry).expect("the kernel was selected for the types");
    let device = matrices.c.view().first().device().clone();
    let module = Module::on_demand(&device, kernel.module);
    matrices.for_each_grid(|part| {
        let config = part.grid(kernel)?;
        let (m, n, k) = part.extents();
        let a = Operand::new(part.a, k, |it| lines_of(it, Order::RowMajor))?;
        let b = Operand::new(part.b, k, |it| lines_of(it, Order::ColumnMajor))?;
        // SAFETY: (1) by (2) of the kernels.
        let (a, b) = unsafe { (a.elements(), b.elements()) };
        let c = part.c;
        let shape = ProductShape {
            m,
            n,
            k,
            lda: a.leading_dimension,
            ldb: b.leading_dimension,
            ldc: c.view().first().leading_dimension(),
            a_stride: a.stride,
            b_stride: b.stride,
            c_stride: c.view().stride(),
            is_lower: usize::from(part.is_gram),
        };
        let arguments = ProductArguments {
            a: a.elements,
            b: b.elements,
            // SAFETY: (1) by (2) of the kernels.
            c: unsafe { written_by_product(c) },
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

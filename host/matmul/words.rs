//! Products of i8 matrices on the ordinary units, which multiply words of four neighbours along k.

use super::entry::{ChainArguments, Entry};
use super::epilogue::Stores;
use super::kernel::GemmKernel;
use super::lines::{AlignedLines, Operand, WORD};
use super::matrices::Matrices;
use super::operands::written_by_product;
use crate::error::Outcome;
use crate::matrix::Order;
use crate::module::Module;
use tilewright_kernels::matmul::ProductShape;

/// C = A B of i8, in i32.
pub fn multiply(kernel: &'static GemmKernel, matrices: Matrices<'_, i8, i32, i32>) -> Outcome<()> {
    let Entry::Words(launch) = kernel.entry else {
        unreachable!("the kernel was selected for i8");
    };
    let device = matrices.c.view().first().device().clone();
    let module = Module::on_demand(&device, kernel.module);
    matrices.for_each_grid(|part| {
        let config = part.grid(kernel)?;
        let (m, n, k) = part.extents();
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
        let c = part.c;
        let shape = ProductShape {
            m,
            n,
            k: k.div_ceil(WORD),
            lda: a.leading_dimension,
            ldb: b.leading_dimension,
            ldc: c.view().first().leading_dimension(),
            a_stride: a.stride,
            b_stride: b.stride,
            c_stride: c.view().stride(),
            is_lower: usize::from(part.is_gram),
        };
        let arguments = ChainArguments {
            a: a.elements,
            b: b.elements,
            // SAFETY: (1) by (2) of the kernels.
            c: unsafe { written_by_product(c) },
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

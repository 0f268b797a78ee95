//! Products by kernels that read lines which start at multiples of 16 bytes.

use super::lines::{AlignedLines, Lines, Operand};
use crate::error::Outcome;
use crate::launch_args::written_by_product;
use crate::matmul::element_type::Typed;
use crate::matmul::entry::{ProductArguments, ProductLaunch};
use crate::matmul::epilogue::Stores;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::matrices::{Matrices, Starts};
use crate::matmul::types::Accumulator;
use crate::matrix::{MatrixBatch, Order};
use crate::module::Module;

/// How a kernel reads operands of type `T`: as elements `R`.
pub struct Reading<T: Typed, R> {
    /// An operand's lines, which lie in the given order along k if the kernel needs one.
    pub lines: for<'a> fn(MatrixBatch<'a, T>, Order) -> Outcome<AlignedLines<'a, T>>,
    /// The lines as the kernel reads them.
    ///
    /// # Safety
    /// 1. The launch reads the elements of the lines alone.
    pub read: for<'a> unsafe fn(&'a Operand<'_, T>) -> Lines<'a, R>,
    /// The length of lines of so many elements along k, as the kernel counts it.
    pub length: fn(usize) -> usize,
}

/// C = A B by a kernel that was selected for the operands.
pub fn multiply<T: Typed, R: Typed, O: Typed, S: Accumulator>(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, O, S>,
    reading: Reading<T, R>,
    stores: Stores,
) -> Outcome<()> {
    let launch: ProductLaunch<R, O, S> = kernel.entry.launch();
    let device = matrices.c.view().first().device().clone();
    let module = Module::on_demand(&device, kernel.module);
    matrices.for_each_grid(|part| {
        let config = part.grid(kernel)?;
        let (_, _, k) = part.extents();
        let a = Operand::new(part.a, k, |it| (reading.lines)(it, Order::RowMajor))?;
        let b = Operand::new(part.b, k, |it| (reading.lines)(it, Order::ColumnMajor))?;
        // SAFETY: (1) by (2) of the kernels.
        let (a, b) = unsafe { ((reading.read)(&a), (reading.read)(&b)) };
        let starts = |it: &Lines<'_, R>, order: Order, along_k| Starts {
            leading_dimension: it.leading_dimension,
            stride: it.stride,
            // Elements of 8 bits were brought into that order.
            is_along: size_of::<T>() == 1 || order == along_k,
        };
        let starts = [
            starts(&a, part.a.first().order(), Order::RowMajor),
            starts(&b, part.b.first().order(), Order::ColumnMajor),
        ];
        let shape = part.shape(reading.length, starts);
        let arguments = ProductArguments {
            a: a.elements,
            b: b.elements,
            // SAFETY: (1) by (2) of the kernels.
            c: unsafe { written_by_product(part.c) },
            shape,
            epilogue: part.epilogue.arguments(stores),
        };
        // SAFETY: (1) of `ProductLaunch` is (1) to (3) of the kernels: (1) block and grid are the tile's for
        // m x n and the batch. (2) The shapes were compared, and the lines reach to the last of the operands.
        // (3) The lines are aligned, and in the orders by which the kernel was selected, or that it needs. (2) A,
        // B and C are of this device, are borrowed until this returns, C mutably, and nothing else is touched; a
        // copy is freed by work that comes later.
        unsafe { launch(&module, config, arguments) }
    })
}

//! Products by kernels that read lines which start at multiples of 16 bytes.

use super::lines::{AlignedLines, Lines, Operand};
use crate::error::Outcome;
use crate::launch_args::written_by_product;
use crate::matmul::element_type::Typed;
use crate::matmul::entry::{ProductArguments, ProductLaunch};
use crate::matmul::epilogue::Stores;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::launchers::Launcher;
use crate::matmul::matrices::{Matrices, Starts};
use crate::matmul::types::Accumulator;
use crate::matrix::{MatrixBatch, Order};
use crate::module::Module;

/// How a kernel reads operands of type `T`: as elements `R`.
pub struct Reading<T: Typed, R> {
    /// An operand's lines, along k in the given order if the kernel needs one.
    pub lines: for<'a> fn(MatrixBatch<'a, T>, Order) -> Outcome<AlignedLines<'a, T>>,
    /// The lines as the kernel reads them.
    ///
    /// # Safety
    /// 1. The launch reads only the elements of the lines.
    pub read: for<'a> unsafe fn(&'a Operand<'_, T>) -> Lines<'a, R>,
    /// The length of lines along k as the kernel counts it, from the number of elements.
    pub length: fn(usize) -> usize,
}

/// C = A B by the selected kernel.
pub fn multiply<T: Typed, R: Typed, O: Typed, S: Accumulator>(
    (kernel, launcher): (&'static GemmKernel, Launcher<ProductLaunch<R, O, S>>),
    matrices: Matrices<'_, T, O, S>,
    reading: Reading<T, R>,
    stores: Stores,
) -> Outcome<()> {
    let Launcher { module, launch } = launcher;
    let device = matrices.c.view().first().device().clone();
    let module = Module::on_demand(&device, module);
    matrices.for_each_grid(|part| {
        let config = part.grid(kernel)?;
        let (_, _, k) = part.extents();
        let a = Operand::new(part.a, k, |it| (reading.lines)(it, Order::RowMajor))?;
        let b = Operand::new(part.b, k, |it| (reading.lines)(it, Order::ColumnMajor))?;
        // SAFETY: the launch reads only the elements of the lines, as the kernels document.
        let (a, b) = unsafe { ((reading.read)(&a), (reading.read)(&b)) };
        let starts = |it: &Lines<'_, R>, order: Order, along_k| Starts {
            leading_dimension: it.leading_dimension,
            stride: it.stride,
            // 8-bit elements were brought into that order.
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
            // SAFETY: the launch accesses only the elements of C, as the kernels document.
            c: unsafe { written_by_product(part.c) },
            shape,
            epilogue: part.epilogue.arguments(stores),
        };
        // SAFETY: the launch meets the kernels' requirements. Block and grid are the tile's for m x n and the
        // batch. The shapes were compared, and the lines reach to the last of the operands. The lines are aligned,
        // and in the orders by which the kernel was selected, or that it needs. The views are live without
        // conflicting work: A, B and C are of this device, are borrowed until this returns, C mutably, and nothing
        // else is touched; a copy is freed by work that comes later.
        unsafe { launch(&module, config, arguments) }
    })
}

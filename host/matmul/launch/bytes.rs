//! Products of the lines of a matrix with a vector, of elements of 8 bits, which kernels read in words of four.

use super::lines::{AlignedLines, Operand, WORD};
use super::vector::{Work, elements_apart, with_vector_last};
use crate::element::Element;
use crate::error::Outcome;
use crate::launch_args::written_by_product;
use crate::matmul::entry::VectorLaunch;
use crate::matmul::epilogue::Stores;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::matrices::Matrices;
use crate::matmul::types::Accumulator;
use crate::matmul::types::sealed::Computes;
use crate::matrix::{MatrixBatch, Order};
use crate::module::Module;
use tilewright_kernels::matvec::{STRAND_BYTES, VectorShape};

/// C = A B, where A or B is a vector.
pub fn multiply<T: Computes<O, S>, O: Element, S: Accumulator>(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    matrices.for_each_grid(|part| launch_part(kernel, part))
}

/// As many products as a grid has along y.
fn launch_part<T: Computes<O, S>, O: Element, S: Accumulator>(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    let (matrices, lines) = with_vector_last(matrices);
    let (products, (m, _, k)) = (matrices.count(), matrices.extents());
    let Matrices {
        a, b, c, epilogue, ..
    } = matrices;
    let x = Operand::new(a, k, |it| whole_vectors(it, Order::RowMajor))?;
    let v = Operand::new(b, k, |it| whole_vectors(it, Order::ColumnMajor))?;
    let work = Work::new(lines, (m, k), size_of::<T>(), products);
    // SAFETY: (1) the launch touches elements of the matrices alone, by (2) of the kernels.
    let (x, v) = unsafe { (x.words(), v.words()) };
    let shape = VectorShape {
        lines: m,
        k: k.next_multiple_of(STRAND_BYTES) / WORD,
        x_apart: x.leading_dimension,
        v_apart: 1,
        columns: 1,
        y_apart: elements_apart(c.view().first()),
        x_stride: x.stride,
        v_stride: v.stride,
        y_stride: c.view().stride(),
        lanes: work.lanes,
        parts_of_group: work.parts_of_group,
        lines_of_group: work.lines_of_group,
    };
    let launch: VectorLaunch<i32, O, S, T::Accumulator> = kernel.entry.launch();
    let module = Module::on_demand(c.view().first().device(), kernel.module);
    let epilogue = epilogue.arguments(Stores::Plain);
    // SAFETY: (1) as for the operands.
    let y = unsafe { written_by_product(c) };
    // SAFETY: (1) the shapes were compared, the lines and the vector are whole vectors of 16 bytes, and the grid
    // is that of `work`. (2) The matrices are borrowed until this returns, C mutably; copies are freed by work
    // that comes later.
    unsafe {
        work.launch(
            (&module, launch),
            (x.elements, v.elements, y),
            shape,
            epilogue,
            products,
        )
    }
}

/// Lines of whole vectors of 16 bytes, zeros at the end.
fn whole_vectors<T: Element>(
    batch: MatrixBatch<'_, T>,
    along_k: Order,
) -> Outcome<AlignedLines<'_, T>> {
    AlignedLines::along(batch.in_order_if_possible(along_k), along_k, STRAND_BYTES)
}

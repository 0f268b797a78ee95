//! Products of rows or columns of 8-bit elements with a vector. Kernels read them in words of four.

use super::lines::{AlignedLines, Lines, Operand, WORD};
use super::vector::{LinesAndVector, Work, with_vector_last};
use crate::error::Outcome;
use crate::matmul::element_type::Typed;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::matrices::Matrices;
use crate::matmul::types::Accumulator;
use crate::matmul::types::sealed::Computes;
use crate::matrix::{MatrixBatch, Order};
use tilewright_kernels::matvec::STRAND_BYTES;

/// C = A B, where A or B is a vector.
pub fn multiply<T: Computes<O, S>, O: Typed, S: Accumulator>(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    matrices.for_each_grid(|part| launch_part(kernel, part))
}

/// Launches as many products as a grid has along y.
fn launch_part<T: Computes<O, S>, O: Typed, S: Accumulator>(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    let (matrices, order) = with_vector_last(matrices);
    let (products, (m, _, k)) = (matrices.count(), matrices.extents());
    let Matrices {
        a, b, c, epilogue, ..
    } = matrices;
    let x = Operand::new(a, k, |it| whole_vectors(it, Order::RowMajor))?;
    let v = Operand::new(b, k, |it| whole_vectors(it, Order::ColumnMajor))?;
    let work = Work::new(order, (m, k), size_of::<T>(), products);
    // SAFETY: the launch reads only the words of the lines, as the kernels document.
    let (x, v) = unsafe { (x.words(), v.words()) };
    let operands = LinesAndVector {
        x,
        v: Lines {
            leading_dimension: 1,
            ..v
        },
        k: k.next_multiple_of(STRAND_BYTES) / WORD,
    };
    let shape = work.shape(m, &operands, c.view());
    // SAFETY: the work fits the kernel: the shapes were compared, the lines and the vector are whole vectors of 16
    // bytes, the grid is that of `work`, and the launch accesses only elements of C. No work conflicts: the
    // matrices are borrowed until this returns, C mutably, and copies are freed by work that comes later.
    unsafe {
        let kernel = T::VECTORS_OF_WORDS.of(kernel);
        work.launch(kernel, operands, (c, epilogue), shape, products)
    }
}

/// Lines of whole vectors of 16 bytes, padded with zeros.
fn whole_vectors<T: Typed>(
    batch: MatrixBatch<'_, T>,
    along_k: Order,
) -> Outcome<AlignedLines<'_, T>> {
    AlignedLines::along(batch.in_order_if_possible(along_k), along_k, STRAND_BYTES)
}

//! Warp-level products on the tensor cores of compute capability 8.0 and later: of f16, bf16 and i8, and of f64 whose
//! operands are copied.

use super::aligned::{self, Reading};
use super::lines::AlignedLines;
use crate::error::Outcome;
use crate::matmul::element_type::Typed;
use crate::matmul::epilogue::Stores;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::launchers::Kernels;
use crate::matmul::matrices::Matrices;
use crate::matmul::types::Accumulator;
use crate::matrix::{MatrixBatch, Order};

/// C = A B of f16 or bf16, in their type or in f32, and of i8, in i32, f32, f16 or bf16.
pub fn multiply<T: Kernels<O, S>, O: Typed, S: Accumulator>(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()> {
    let kernel = (kernel, T::PRODUCTS.of(kernel));
    aligned::multiply(kernel, matrices, by_elements(), Stores::Single)
}

/// C = A B of f64, in order of k. The rows of the operands, or of copies of them, start at multiples of 16 bytes.
pub fn multiply_doubles(
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, f64, f64, f64>,
) -> Outcome<()> {
    let kernel = (kernel, f64::PRODUCTS.of(kernel));
    aligned::multiply(kernel, matrices, by_elements(), Stores::Plain)
}

/// Operands as their elements, with aligned lines.
fn by_elements<T: Typed>() -> Reading<T, T> {
    Reading {
        lines: lines_of,
        // SAFETY: the launch reads only the elements of the lines: the caller's contract.
        read: |operand| unsafe { operand.elements() },
        length: |k| k,
    }
}

/// Lines that start at multiples of 16 bytes; those of 8-bit elements in the order `along_k`.
fn lines_of<T: Typed>(batch: MatrixBatch<'_, T>, along_k: Order) -> Outcome<AlignedLines<'_, T>> {
    match size_of::<T>() {
        1 => AlignedLines::along(batch, along_k, 1),
        _ => AlignedLines::of(batch),
    }
}

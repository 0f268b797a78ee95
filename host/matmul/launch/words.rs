//! Products of i8 matrices on CUDA cores, which multiply words of four neighbours along k.

use super::aligned::{self, Reading};
use super::lines::{AlignedLines, WORD};
use crate::error::Outcome;
use crate::matmul::epilogue::Stores;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::launchers::Kernels as _;
use crate::matmul::matrices::Matrices;

/// C = A B of i8, in i32.
#[inline]
pub fn multiply(kernel: &'static GemmKernel, matrices: Matrices<'_, i8, i32, i32>) -> Outcome<()> {
    let reading = Reading {
        lines: |batch, along_k| AlignedLines::along(batch, along_k, WORD),
        // SAFETY: the launch reads only the words of the lines: the caller's contract.
        read: |operand| unsafe { operand.words() },
        length: |k| k.div_ceil(WORD),
    };
    let kernel = (kernel, i8::PRODUCTS_OF_WORDS.of(kernel));
    aligned::multiply(kernel, matrices, reading, Stores::Plain)
}

//! A matrix's buffer has as many elements as its shape says, and keeps them.

use tilewright::{Buffer, Matrix};

fn shorten(matrix: &mut Matrix<f32>, shorter: &mut Buffer<f32>) {
    std::mem::swap(matrix.as_mut_buffer(), shorter);
    std::mem::swap(matrix.buffer_mut(), shorter);
}

fn main() {}

//! Elements of matrices belong to threads by row and column, not by rank.

use cuda_std::prelude::*;

#[kernel]
pub fn write(y: GlobalMatrixMut<f32>) {
    let _ = y.own(thread::unique_index());
}

fn main() {}

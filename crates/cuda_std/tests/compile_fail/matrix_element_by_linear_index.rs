//! Elements of matrices belong to threads by their rows and columns, not by their ranks.

use cuda_std::prelude::*;

#[kernel]
pub fn write(y: GlobalMatrixMut<f32>) {
    let _ = y.own(thread::unique_index());
}

fn main() {}

//! A unique index permits one access, which consumes it.

use cuda_std::prelude::*;

#[kernel]
pub fn write_twice(x: GlobalMatrixMut<f32>, y: GlobalMatrixMut<f32>) {
    let index = thread::unique_index_2d();
    let _ = x.own(index);
    let _ = y.own(index);
}

fn main() {}

//! A slice points to host memory.

use cuda_std::prelude::*;

#[kernel]
pub fn scale(x: &[f32], y: GlobalMut<f32>) {
    let _ = (x, y);
}

fn main() {}

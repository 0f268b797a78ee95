//! The grid is what a cooperative kernel is for.

use cuda_std::prelude::*;

#[kernel(cooperative)]
pub fn add(x: Global<f32>) {
    let _ = x;
}

fn main() {}

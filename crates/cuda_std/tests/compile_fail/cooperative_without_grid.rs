//! A cooperative kernel needs a grid to be of use.

use cuda_std::prelude::*;

#[kernel(cooperative)]
pub fn add(x: Global<f32>) {
    let _ = x;
}

fn main() {}

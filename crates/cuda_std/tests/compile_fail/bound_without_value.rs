//! A bound needs a value.

use cuda_std::prelude::*;

#[kernel(max_threads)]
pub fn add(x: Global<f32>) {
    let _ = x;
}

fn main() {}

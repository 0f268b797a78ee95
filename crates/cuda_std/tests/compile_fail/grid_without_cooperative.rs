//! Only a cooperative launch has a grid whose threads can wait for each other.

use cuda_std::prelude::*;

#[kernel]
pub fn add(grid: cuda_std::cooperative_groups::GridGroup, x: Global<f32>) {
    let _ = (grid, x);
}

fn main() {}

//! Older GPUs have no clusters.

use cuda_std::prelude::*;

#[kernel(cluster = (2, 1, 1))]
pub fn nothing() {}

fn main() {}

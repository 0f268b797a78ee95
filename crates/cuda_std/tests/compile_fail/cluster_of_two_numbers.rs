//! A cluster has three extents.

use cuda_std::prelude::*;

#[kernel(arch = "sm_90", cluster = (2, 1))]
pub fn nothing() {}

fn main() {}

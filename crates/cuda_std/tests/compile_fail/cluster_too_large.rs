//! Not every GPU with clusters supports 16 blocks.

use cuda_std::prelude::*;

#[kernel(arch = "sm_90", cluster = (4, 4, 1))]
pub fn nothing() {}

fn main() {}

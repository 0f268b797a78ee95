//! There is no such architecture.

use cuda_std::prelude::*;

#[kernel(arch = "sm_81")]
pub fn nothing() {}

fn main() {}

//! A safe kernel promises nothing about its first accesses.

use cuda_std::prelude::*;

#[kernel(arch = "sm_90", dependent_launch)]
pub fn nothing() {}

fn main() {}

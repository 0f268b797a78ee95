//! A comparison of slices calls `memcmp`, which would be the kernel.

use cuda_std::prelude::*;

#[kernel]
pub fn memcmp() {}

fn main() {}

//! An architecture is named.

use cuda_std::prelude::*;

#[kernel(arch = 90)]
pub fn nothing() {}

fn main() {}

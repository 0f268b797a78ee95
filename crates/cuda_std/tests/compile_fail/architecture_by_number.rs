//! An architecture is given by its name.

use cuda_std::prelude::*;

#[kernel(arch = 90)]
pub fn nothing() {}

fn main() {}

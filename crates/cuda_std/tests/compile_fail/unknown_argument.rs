//! The attribute has three arguments.

use cuda_std::prelude::*;

#[kernel(threads = 256)]
pub fn nothing() {}

fn main() {}

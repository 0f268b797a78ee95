//! The attribute has no such argument.

use cuda_std::prelude::*;

#[kernel(threads = 256)]
pub fn nothing() {}

fn main() {}

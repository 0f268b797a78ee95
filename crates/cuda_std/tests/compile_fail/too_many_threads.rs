//! No block has 2048 threads.

use cuda_std::prelude::*;

#[kernel(max_threads = 2048)]
pub fn nothing() {}

fn main() {}

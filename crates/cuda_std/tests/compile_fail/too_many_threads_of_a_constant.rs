//! No block has 2048 threads, even if a constant gives the number.

use cuda_std::prelude::*;

const THREADS: u32 = 2048;

#[kernel(max_threads = THREADS)]
pub fn nothing() {}

fn main() {}

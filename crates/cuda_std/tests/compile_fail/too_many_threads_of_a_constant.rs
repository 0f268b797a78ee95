//! No block has 2048 threads, of a constant either.

use cuda_std::prelude::*;

const THREADS: u32 = 2048;

#[kernel(max_threads = THREADS)]
pub fn nothing() {}

fn main() {}

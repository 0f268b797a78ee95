//! Which of the two would hold?

use cuda_std::prelude::*;

#[kernel(max_threads = 256, max_threads = 128)]
pub fn nothing() {}

fn main() {}

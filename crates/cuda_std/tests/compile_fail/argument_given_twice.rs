//! Two values for one argument contradict each other.

use cuda_std::prelude::*;

#[kernel(max_threads = 256, max_threads = 128)]
pub fn nothing() {}

fn main() {}

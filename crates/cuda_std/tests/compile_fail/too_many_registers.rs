//! No thread has 256 registers.

use cuda_std::prelude::*;

#[kernel(max_registers = 256)]
pub fn nothing() {}

fn main() {}

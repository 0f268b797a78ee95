//! An entry of PTX has an ASCII name.

use cuda_std::prelude::*;

#[kernel]
pub fn größe() {}

fn main() {}

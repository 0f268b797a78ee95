//! A kernel does not choose how long its views live.

use cuda_std::prelude::*;

#[kernel]
pub fn forever(x: Global<'static, f32>) {}

fn main() {}

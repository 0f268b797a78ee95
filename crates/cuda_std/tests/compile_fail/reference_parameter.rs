//! A reference points to host memory.

use cuda_std::prelude::*;

#[kernel]
pub fn scale(factor: &f32, y: GlobalMut<f32>) {
    let _ = (factor, y);
}

fn main() {}

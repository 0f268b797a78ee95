//! A store at any index may race with other threads.

use cuda_std::prelude::*;

#[kernel]
pub fn write_first(y: GlobalMut<f32>) {
    y.store(0, 1.0);
}

fn main() {}

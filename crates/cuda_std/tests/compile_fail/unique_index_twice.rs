//! A unique index permits one access, which consumes it.

use cuda_std::prelude::*;

#[kernel]
pub fn write_twice(x: GlobalMut<f32>, y: GlobalMut<f32>) {
    let index = thread::unique_index();
    let _ = x.own(index);
    let _ = y.own(index);
}

fn main() {}

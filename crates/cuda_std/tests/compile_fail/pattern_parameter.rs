//! A parameter is passed by name.

use cuda_std::prelude::*;

#[kernel]
pub fn sum((a, b): (f32, f32), y: GlobalMut<f32>) {
    if let Some(y) = y.own(thread::unique_index()) {
        y.set(a + b);
    }
}

fn main() {}

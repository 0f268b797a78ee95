//! The memory of a shared array fits only an array of its length.

use cuda_std::prelude::*;

#[kernel]
pub fn lengthen() {
    let array = shared_array![f32; 4];
    let _: SharedArray<f32, 400> = SharedArray { memory: array.memory, scope: array.scope };
}

fn main() {}

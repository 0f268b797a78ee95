//! On a GPU, a shared array is a static, which cannot be generic. The simulator has the same rule.

use cuda_std::prelude::*;

fn fill<const LEN: usize>(value: f32) {
    let tile = shared_array![f32; LEN];
    // SAFETY: (1) the length is above 0. (2) Each block has one thread.
    unsafe { tile.store(0, value) };
}

#[kernel]
pub fn fill_256(value: f32) {
    fill::<256>(value);
}

fn main() {}

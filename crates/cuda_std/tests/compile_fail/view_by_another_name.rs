//! The attribute sees names, not types: this view would be passed by value.

use cuda_std::prelude::*;

type Input<'launch> = Global<'launch, f32>;

#[kernel]
pub fn read(x: Input<'_>) {
    let _ = x;
}

fn main() {}

//! The kernel leaves a unit struct of its name, which no variable can have.

use cuda_std::prelude::*;

#[kernel]
pub fn factor(factor: f32) {
    let _ = factor;
}

fn main() {}

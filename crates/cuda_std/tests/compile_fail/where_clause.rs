//! A bound has nothing to bound.

use cuda_std::prelude::*;

#[kernel]
pub fn nothing(_y: GlobalMut<f32>)
where
    f32: Float,
{
}

fn main() {}

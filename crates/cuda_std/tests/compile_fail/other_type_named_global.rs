//! The attribute sees names, not types: this type is not a view.

use cuda_std::kernel;

#[derive(Clone, Copy)]
pub struct Global(f32);

#[kernel]
pub fn read(x: Global) {
    let _ = x.0;
}

fn main() {}

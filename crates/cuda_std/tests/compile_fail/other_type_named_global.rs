//! The attribute sees names, not types: this is no view.

use cuda_std::kernel;

#[derive(Clone, Copy)]
pub struct Global(f32);

#[kernel]
pub fn read(x: Global) {
    let _ = x.0;
}

fn main() {}
